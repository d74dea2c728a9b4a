// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import scala.io.StdIn

import org.apache.spark.sql.SparkSession

import splice.bench.{Columns, Queries}

/** Reads with the build on its class path, and uses only Spark's public interface. The argument is the number of
  * cores.
  *
  * Each input line `<batch or stream> <format> <option>=<value> ...`, separated by tabs, starts one query. The
  * response is the line `read <rows> <nanoseconds>`.
  */
object BuildPeer {

  def main(arguments: Array[String]): Unit = {
    val cores = arguments.headOption.getOrElse(sys.error("the number of cores is missing"))
    val spark = SparkSession
      .builder()
      .master(s"local[$cores]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", cores)
      .getOrCreate()
    val queries = new Queries(spark)
    try
      Iterator.continually(Option(StdIn.readLine())).takeWhile(_.isDefined).flatten.foreach { line =>
        val kind +: format +: texts = line.split('\t').toSeq: @unchecked
        val options                 = texts.map(option).toMap
        val (rows, nanos)           = timed(kind match {
          case "batch"  => queries.batch(format, options).getOrElse(0L)
          case "stream" => queries.availableNow(format, options, Columns.All)
        })
        println(s"read $rows $nanos")
      }
    finally spark.stop()
  }

  /** Garbage of a run is collected before the next run, while the other build waits. */
  private def timed[T](work: => T): (T, Long) = {
    System.gc()
    val begin  = System.nanoTime()
    val result = work
    (result, System.nanoTime() - begin)
  }

  private def option(text: String): (String, String) = {
    val (key, value) = text.splitAt(text.indexOf('='))
    key -> value.drop(1)
  }
}
