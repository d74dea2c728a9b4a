// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.time.Clock

import scala.util.Using

import splice.bench.{KafkaLoad, Median, Queries, Report, TopicSpec}
import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, ReadMode, SourceProvider}

/** Cost of a batch on the driver before a task runs: planning time and size of the offset. */
final class DriverCost(servers: String, cores: Int) {

  private val Files10k       = 10000
  private val Partitions1k   = 1000
  private val Repetitions    = 11
  private val RowsPerTrigger = 100000000L

  def run(): String = {
    val rows = Seq(files(), kafka())
    ("### Driver" +: "" +:
      Report.lines(Seq("source", "plan, median ms", "idle trigger, median ms", "offset, bytes"), rows))
      .mkString("\n")
  }

  private def files(): Seq[String] = {
    val folder = Files.createTempDirectory("bench-plan")
    try {
      (0 until Files10k).foreach(i => Files.write(folder.resolve(f"part-$i%05d.txt"), s"row $i\n".getBytes(UTF_8)))
      measure(s"files, $Files10k splits", Map("source" -> "files", "format" -> "text", "path" -> folder.toString))
    } finally Queries.delete(folder)
  }

  private def kafka(): Seq[String] = {
    val topic = TopicSpec(rows = Partitions1k * 10L, bytes = 10, partitions = Partitions1k)
    new KafkaLoad(servers).fill(topic)
    measure(
      s"kafka, $Partitions1k partitions",
      Map(
        "source"                  -> "kafka",
        "kafka.bootstrap.servers" -> servers,
        "subscribe"               -> topic.name,
        "startingOffsets"         -> "earliest",
        "maxOffsetsPerTrigger"    -> RowsPerTrigger.toString
      )
    )
  }

  private def measure(name: String, options: Map[String, String]): Seq[String] = {
    val source  = SourceProvider.create(SourceOptions(options))
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), cores, "bench")
    Using.resource(new Coordinator(source, context, cores, batchesToRetain = 100)) { coordinator =>
      coordinator.open()
      val start = coordinator.initial()
      val until = coordinator.advance(start, everything = true)
      val plan  = median {
        val _ = coordinator.tasks(start, start)
        val _ = coordinator.tasks(start, until)
      }
      val idle = median { val _ = coordinator.advance(until, everything = false) }
      Seq(name, f"$plan%.1f", f"$idle%.1f", until.json.getBytes(UTF_8).length.toString)
    }
  }

  private def median(work: => Unit): Double = {
    val nanos = (0 until Repetitions).map { _ =>
      val begin = System.nanoTime()
      work
      System.nanoTime() - begin
    }
    Median(nanos) / 1e6
  }
}
