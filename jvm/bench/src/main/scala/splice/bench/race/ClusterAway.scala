// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.net.{InetAddress, ServerSocket}
import java.nio.file.Files
import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.locks.LockSupport

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.{StreamingQueryListener, Trigger}

import splice.bench.{BenchPlan, KafkaLoad, Median, Queries, Report}

// scalafix:off DisableSyntax.null; Kafka's clients define null for an absent argument

/** Benchmark of batches over two clusters while a third cluster is unavailable for the whole run: 20,000 rows per
  * second, trigger 0.
  *
  * The third cluster is added to the metadata after the start of the query. A cluster that has never responded would
  * prevent the start.
  *
  * @param servers
  *   bootstrap servers of the available clusters; the first two are used
  */
final class ClusterAway(spark: SparkSession, servers: Seq[String], plan: BenchPlan) {

  import ClusterAway._

  private val RowsPerSecond = 20000
  private val Warm          = 40.seconds
  private val Measured      = 60.seconds

  private val available = servers.take(2)
  private val loads     = available.map(new KafkaLoad(_))

  def run(): String = {
    // The first round warms up the JVM. Each round begins with another lap.
    val rounds = (0 to plan.rounds).map(n => rotated(n).map(third => third -> lap(third)).toMap).drop(1)
    val rows   = Third.all.map { third =>
      val times  = rounds.map(_(third))
      val ratios = rounds.map(round => round(third).p99.toDouble / round(Third.None).p99)
      Seq(
        third.title,
        Median(times.map(_.batches)).toString,
        Median(times.map(_.p50)).toString,
        Median(times.map(_.p99)).toString,
        f"${Median(ratios)}%.2f",
        f"${ratios.max}%.2f"
      )
    }
    val head =
      Seq("third cluster", "batches", "batch p50, ms", "batch p99, ms", "p99 ÷ none, median of rounds", "maximum")
    (f"### An unavailable cluster, $RowsPerSecond%,d rows per second of two others, trigger 0" +: "" +:
      s"Medians of ${plan.rounds} rounds after one that is not measured." +: "" +:
      Report.lines(head, rows)).mkString("\n")
  }

  private def rotated(by: Int): Seq[Third] = {
    val (first, last) = Third.all.splitAt(by % Third.all.size)
    last ++ first
  }

  private def lap(third: Third): BatchTimes = Using.resource(third.open()) { away =>
    val topic      = s"bench-away-${System.nanoTime()}"
    val checkpoint = Files.createTempDirectory("bench-checkpoint")
    val folder     = Files.createTempDirectory("bench-streams")
    val file       = new StreamsFile(folder)
    loads.foreach(_.create(topic, plan.partitions))
    file.write(topic, available)
    val watch = new Watch
    spark.streams.addListener(watch)
    val query = spark.readStream
      .format("splice-dynamic-kafka")
      .options(file.options)
      .load()
      .writeStream
      .format("noop")
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.ProcessingTime(0))
      .start()
    try {
      Using.resources(producer(0), producer(1)) { (first, second) =>
        val values          = KafkaLoad.values(1 << 10, plan.bytes)
        val rate            = new EvenRate(RowsPerSecond)
        def send(row: Long) = {
          val to = if (row % 2 == 0) first else second
          val _  = to.send(
            new ProducerRecord(topic, (row / 2 % plan.partitions).toInt, null, values((row % values.length).toInt))
          )
        }
        rate.during(Warm / 4)(send)
        if (away.servers.nonEmpty) file.write(topic, available ++ away.servers)
        rate.during(Warm * 3 / 4)(send)
        val begin = Instant.now()
        rate.during(Measured)(send)
        query.processAllAvailable()
        val last  = query.recentProgress.filter(_.numInputRows > 0).map(_.batchId).max
        val times = watch.times(last, begin, begin.plusMillis(Measured.toMillis))
        println(s"  ${third.title}: $times")
        times
      }
    } finally {
      query.stop()
      spark.streams.removeListener(watch)
      Seq(checkpoint, folder).foreach(Queries.delete)
      loads.foreach(_.delete(topic))
    }
  }

  private def producer(cluster: Int) = loads(cluster).producer("none", lingerMillis = 0)
}

object ClusterAway {

  /** Kind of unavailability of the third cluster. */
  sealed abstract class Third(val title: String) {
    def open(): Away
  }

  object Third {

    case object None extends Third("none") {
      override def open(): Away = new Away(Nil, Nil)
    }

    case object Rejects extends Third("refuses connections") {
      override def open(): Away = {
        val free = Using.resource(listen())(address)
        new Away(Seq(free), Nil)
      }
    }

    /** Simulates a hanging machine, or a network that loses responses. */
    case object Silent extends Third("accepts connections and never responds") {
      override def open(): Away = {
        val socket = listen()
        new Away(Seq(address(socket)), Seq(socket))
      }
    }

    val all: Seq[Third] = Seq(None, Rejects, Silent)

    // The kernel completes connections even without a call of `accept`.
    private def listen()                      = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress)
    private def address(socket: ServerSocket) = s"127.0.0.1:${socket.getLocalPort}"
  }

  final class Away(val servers: Seq[String], sockets: Seq[ServerSocket]) extends AutoCloseable {
    override def close(): Unit = sockets.foreach(_.close())
  }

  final case class BatchTimes(batches: Long, p50: Long, p99: Long)

  /** Durations of batches from trigger to commit. Spark calls this listener on its listener thread. */
  final private class Watch extends StreamingQueryListener {

    private val seen = new ConcurrentLinkedQueue[(Long, Instant, Long)]

    /** Waits for the events of all batches up to `last`. Returns the times of batches with rows that began between
      * two times.
      */
    def times(last: Long, from: Instant, until: Instant): BatchTimes = {
      while (!seen.asScala.exists(_._1 >= last)) LockSupport.parkNanos(10.millis.toNanos)
      val durations =
        seen.asScala.collect { case (_, at, millis) if !at.isBefore(from) && at.isBefore(until) => millis }
      val all = durations.toVector.sorted
      assert(all.nonEmpty, "no batch has run")
      BatchTimes(all.size.toLong, all(all.size / 2), all((all.size - 1) * 99 / 100))
    }

    override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit = {
      val progress = event.progress
      if (progress.numInputRows > 0) {
        val _ = seen.add((progress.batchId, Instant.parse(progress.timestamp), progress.batchDuration))
      }
    }

    override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit       = ()
    override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = ()
  }
}
