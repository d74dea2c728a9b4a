// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.time.Clock

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.sql.types.StructType

import splice.bench.{Median, Queries, Report}
import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.kafka.dynamic.internal.reader.ClusterReads
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.{DynamicKafkaSource, KafkaMetadataService}
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.cluster.BackgroundDiscovery
import splice.kafka.internal.enumerator.KafkaEnumerator
import splice.source.options.SourceOptions
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, LogPartition, ReadMode, Source, SplitEnumerator}

/** Cost of a batch of many streams on the driver, with brokers that respond immediately. The set-up has 1,000
  * streams, 50 simulated clusters and 20,000 partitions. Each stream is on two clusters. A file has the metadata, and
  * the side log is on a disk.
  */
final class ManyClustersCost(cores: Int) {

  private val Clusters   = 50
  private val Streams    = 1000
  private val Partitions = 10
  private val Batches    = 40

  def run(): String = {
    val cases = Seq(
      "every partition has rows"                  -> (1, Map.empty[String, String]),
      "every partition has rows, rows are shared" -> (1, Map("maxOffsetsPerTrigger" -> "100000")),
      "one partition in 10 has rows"              -> (10, Map.empty[String, String])
    )
    val rows = cases.map { case (name, (every, options)) => inFolder(measure(name, every, options, _)) }
    val head = Seq(
      "case",
      "metadata, ms",
      "batch, median ms",
      "of it advance",
      "of it tasks",
      "of it readers",
      "of it report",
      "idle trigger, ms",
      "requests per cluster",
      "offset, bytes"
    )
    (f"### $Streams%,d streams on $Clusters simulated clusters, ${Streams * 2 * Partitions}%,d partitions" +: "" +:
      Report.lines(head, rows)).mkString("\n")
  }

  private def measure(name: String, every: Int, options: Map[String, String], folder: Path): Seq[String] = {
    val file     = folder.resolve("streams.yaml")
    val settings = DynamicSettings(SourceOptions(Map(
      "streamPattern"   -> ".*",
      "metadata.file"   -> Files.writeString(file, document).toString,
      "startingOffsets" -> "earliest"
    ) ++ options))
    val service = settings.service(new Configuration())
    val logs    = Map.from((0 until Clusters).map(c => cluster(c) -> log(c)))
    val source  = new Simulated(new DynamicKafkaSource(settings), settings, service, logs)
    val side    = new HadoopSideLog(new HadoopPath(folder.resolve("splice").toUri), new Configuration())
    val context = EnumeratorContext(side, ReadMode.Stream, Clock.systemUTC(), cores, "bench")
    val refresh = (0 until Batches).map(_ => timed(service.allStreams())._2).drop(Batches / 2)
    Using.resource(new Coordinator(source, context, cores, batchesToRetain = 100)) { coordinator =>
      coordinator.open()
      var at      = coordinator.initial()
      val batches = (0 until Batches).map { _ =>
        logs.values.foreach(_.grow(every))
        val from          = at
        val (next, go)    = timed(coordinator.advance(from, everything = false))
        val (tasks, plan) = timed(coordinator.tasks(from, next))
        val (_, readers)  = timed(coordinator.readers(source.schema, tasks))
        val (_, reported) = timed(coordinator.figures(next))
        coordinator.committed(next)
        at = next
        Seq(go, plan, readers, reported)
      }.drop(Batches / 2)
      val rest      = coordinator.advance(at, everything = true)
      val before    = logs.values.map(_.requests.get).sum
      val idle      = (0 until Batches).map(_ => timed(coordinator.advance(rest, everything = false))._2)
      val requested = (logs.values.map(_.requests.get).sum - before).toDouble / Batches / Clusters
      Seq(
        name,
        median(refresh),
        median(batches.map(_.sum)),
        median(batches.map(_(0))),
        median(batches.map(_(1))),
        median(batches.map(_(2))),
        median(batches.map(_(3))),
        median(idle.drop(Batches / 2)),
        f"$requested%.2f",
        rest.json.getBytes(UTF_8).length.toString
      )
    }
  }

  private def cluster(number: Int): String = f"cluster-$number%02d"

  private def stream(number: Int): String = f"stream-$number%04d"

  private def clusters(stream: Int): Seq[Int] = Seq(stream % Clusters, (stream + 1) % Clusters)

  private def log(number: Int): GrowingLog = {
    val streams = (0 until Streams).filter(clusters(_).contains(number))
    new GrowingLog(cluster(number), streams.flatMap(s => (0 until Partitions).map(LogPartition(stream(s), _))))
  }

  private def document: String = {
    val known = (0 until Clusters).map(c => s"  ${cluster(c)}: {bootstrapServers: \"${cluster(c)}:9092\"}")
    val lie   = (0 until Streams).map { s =>
      s"  ${stream(s)}: {${clusters(s).map(c => s"${cluster(c)}: [${stream(s)}]").mkString(", ")}}"
    }
    (Seq("version: 1", "generation: 1", "clusters:") ++ known ++ Seq("streams:") ++ lie).mkString("\n")
  }

  private def timed[A](work: => A): (A, Double) = {
    val begin   = System.nanoTime()
    val created = work
    created -> (System.nanoTime() - begin) / 1e6
  }

  private def median(millis: Seq[Double]): String = f"${Median(millis)}%.1f"

  private def inFolder[A](work: Path => A): A = {
    val folder = Files.createTempDirectory("bench-clusters")
    try work(folder)
    finally Queries.delete(folder)
  }

  /** Real source with simulated clusters. */
  final private class Simulated(
      real: DynamicKafkaSource,
      settings: DynamicSettings,
      service: KafkaMetadataService,
      logs: Map[String, GrowingLog]
  ) extends Source[DynamicOffset] {
    override def kind: String                          = real.kind
    override def boundedness: Boundedness              = real.boundedness
    override def schema: StructType                    = real.schema
    override def position(json: String): DynamicOffset = real.position(json)

    override def enumerator(context: EnumeratorContext): SplitEnumerator[DynamicOffset] =
      real.enumerator(context, service, new RecordSizes, new ClusterReads(context.run)) { (cluster, topics, inner, _) =>
        val log       = logs(cluster.name)
        val discovery = new BackgroundDiscovery(log, settings.base.discoveryInterval, inner.steady, inner.run)
        KafkaEnumerator(settings.of(cluster, topics), inner, log, discovery)
      }
  }
}
