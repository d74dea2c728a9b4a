// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import java.nio.file.{Files, Path}
import java.util.Comparator

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Queries with the same work for every source, with a sink that drops all rows. */
final class Queries(spark: SparkSession) {

  /** Runs a batch query. Returns the number of rows that tasks report. Spark's Kafka relation reports none. */
  def batch(
      format: String,
      options: Map[String, String],
      columns: Columns = Columns.All,
      path: Option[String] = None
  ): Option[Long] = counted {
    val reader = spark.read.format(format).options(options)
    drop(columns.of(path.map(reader.load).getOrElse(reader.load())))
  }

  /** Runs a stream with AvailableNow from a new checkpoint to its end. */
  def availableNow(format: String, options: Map[String, String], columns: Columns): Long =
    stream(columns.of(spark.readStream.format(format).options(options).load()), Trigger.AvailableNow())(
      _.awaitTermination()
    )

  /** Runs a stream with trigger 0 from a new checkpoint until the stream has read all rows. */
  def untilRead(rows: DataFrame): Long = stream(rows, Trigger.ProcessingTime(0))(_.processAllAvailable())

  private def stream(rows: DataFrame, trigger: Trigger)(end: StreamingQuery => Unit): Long = {
    val checkpoint = Files.createTempDirectory("bench-checkpoint")
    try {
      val query = rows.writeStream
        .format("noop")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(trigger)
        .start()
      try end(query)
      finally query.stop()
      query.recentProgress.map(_.numInputRows).sum
    } finally Queries.delete(checkpoint)
  }

  private def drop(frame: DataFrame): Unit = frame.write.format("noop").mode("overwrite").save()

  private def counted(work: => Unit): Option[Long] = {
    val rows = new RowsRead
    spark.sparkContext.addSparkListener(rows)
    try {
      work
      Some(rows.total()).filter(_ > 0)
    } finally spark.sparkContext.removeSparkListener(rows)
  }
}

object Queries {

  def delete(folder: Path): Unit =
    Files.walk(folder).sorted(Comparator.reverseOrder[Path]()).forEach(p => Files.delete(p))
}
