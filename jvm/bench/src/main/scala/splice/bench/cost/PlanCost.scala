// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Clock

import scala.util.Using

import org.apache.spark.sql.types.StructType

import splice.bench.{Median, Report}
import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaSource
import splice.kafka.internal.cluster.{BackgroundDiscovery, ClusterClient}
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.split.KafkaPosition
import splice.source.options.SourceOptions
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, LogPartition, ReadMode, Source, SplitEnumerator}

/** Cost of planning a batch on the driver, with brokers that respond immediately: 10,000 partitions of a simulated
  * cluster in 200 topics.
  */
final class PlanCost(cores: Int) {

  private val threads = ManagementFactory.getThreadMXBean

  private val Topics     = 200
  private val Partitions = 50
  private val Batches    = 60

  def run(): String = {
    val cases = Seq(
      "every partition has rows"                  -> (1, Map.empty[String, String]),
      "every partition has rows, rows are shared" -> (1, Map("maxOffsetsPerTrigger" -> "50000")),
      "rows are shared equally"       -> (1, Map("maxOffsetsPerTrigger" -> "50000", "admission" -> "equal")),
      "one time, all rows"            -> (1, Map("admission" -> "eventTime")),
      "one time, with a search"       -> (1, Map("maxOffsetsPerTrigger" -> "50000", "admission" -> "eventTime")),
      "one partition in 100 has rows" -> (100, Map.empty[String, String])
    )
    val rows = cases.map { case (name, (every, options)) => measure(name, every, options) }
    (s"### Planning ${Topics * Partitions} simulated partitions: time of the driver's thread" +: "" +:
      Report.lines(
        Seq(
          "case",
          "batch, median ms",
          "of it advance",
          "of it tasks",
          "of it offset as text",
          "idle trigger, ms",
          "offset, bytes"
        ),
        rows
      )).mkString("\n")
  }

  private def measure(name: String, every: Int, options: Map[String, String]): Seq[String] = {
    val settings = KafkaSettings(SourceOptions(Map(
      "kafka.bootstrap.servers" -> "simulated:9092",
      "subscribePattern"        -> ".*",
      "startingOffsets"         -> "earliest"
    ) ++ options))
    val log = new GrowingLog(
      "simulated",
      for (t <- 0 until Topics; p <- 0 until Partitions) yield LogPartition(f"topic-$t%03d", p)
    )
    val source  = new Simulated(new KafkaSource(settings), settings, log)
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), cores, "bench")
    Using.resource(new Coordinator(source, context, cores, batchesToRetain = 100)) { coordinator =>
      coordinator.open()
      val start   = coordinator.initial()
      var at      = start
      val batches = (0 until Batches).map { _ =>
        log.grow(every)
        val from          = at
        val (next, go)    = timed(coordinator.advance(from, everything = false))
        val (json, text)  = timed(next.json)
        val (tasks, plan) = timed(coordinator.tasks(from, next))
        require(tasks.nonEmpty && json.nonEmpty)
        coordinator.committed(next)
        at = next
        (go, plan, text)
      }.drop(Batches / 2)
      val rest = coordinator.advance(at, everything = true)
      val idle = (0 until Batches).map(_ => timed(coordinator.advance(rest, everything = false))._2).drop(Batches / 2)
      Seq(
        name,
        median(batches.map { case (a, b, c) => a + b + c }),
        median(batches.map(_._1)),
        median(batches.map(_._2)),
        median(batches.map(_._3)),
        median(idle),
        rest.json.getBytes(UTF_8).length.toString
      )
    }
  }

  // CPU time of the thread. The measured code does not wait, and other load on the machine must not count.
  private def timed[A](work: => A): (A, Double) = {
    val begin   = threads.getCurrentThreadCpuTime
    val created = work
    created -> (threads.getCurrentThreadCpuTime - begin) / 1e6
  }

  private def median(millis: Seq[Double]): String = f"${Median(millis)}%.1f"

  /** Real source with another log. */
  final private class Simulated(real: KafkaSource, settings: KafkaSettings, log: ClusterClient)
      extends Source[KafkaPosition] {
    override def kind: String                          = real.kind
    override def boundedness: Boundedness              = real.boundedness
    override def schema: StructType                    = real.schema
    override def position(json: String): KafkaPosition = real.position(json)

    override def enumerator(context: EnumeratorContext): SplitEnumerator[KafkaPosition] =
      real.enumerator(
        context,
        log,
        new BackgroundDiscovery(log, settings.discoveryInterval, context.steady, context.run)
      )
  }
}
