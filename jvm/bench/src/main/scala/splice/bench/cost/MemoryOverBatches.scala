// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.lang.management.ManagementFactory
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.metrics.JmxReporter
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQueryListener

import splice.bench.{BenchPlan, Columns, KafkaLoad, Queries, Report, TopicSpec}

// scalafix:off DisableSyntax.null; Kafka's clients define null for an absent argument

/** Memory use over a thousand batches, and remaining clients and threads after the stop of the query. Tasks run in
  * this JVM.
  */
final class MemoryOverBatches(spark: SparkSession, queries: Queries, servers: String, plan: BenchPlan) {

  import MemoryOverBatches._

  private val load  = new KafkaLoad(servers)
  private val topic = TopicSpec(rows = Batches * RowsPerBatch, bytes = plan.bytes, partitions = plan.partitions)

  def run(): String = {
    load.fill(topic)
    val watch = new Watch
    spark.streams.addListener(watch)
    try {
      val options = Map(
        "kafka.bootstrap.servers" -> servers,
        "subscribe"               -> topic.name,
        "startingOffsets"         -> "earliest",
        "maxOffsetsPerTrigger"    -> RowsPerBatch.toString,
        // Without this reporter, clients that do not read records have no JMX beans.
        "kafka.metric.reporters" -> classOf[JmxReporter].getName
      )
      val _    = queries.availableNow("splice-kafka", options, Columns.All)
      val left = s"After `stop()`: ${clients()} Kafka clients, ${threads()} threads of theirs or of Splice's."
      (s"### Memory over $Batches batches, ${topic.partitions} partitions" +: "" +:
        Report.lines(Seq("batch", "heap after collection, MiB", "Kafka clients"), watch.rows)).mkString("\n") +
        s"\n\n$left"
    } finally {
      spark.streams.removeListener(watch)
      load.delete(topic.name)
    }
  }
}

object MemoryOverBatches {

  private val Batches      = 1000L
  private val RowsPerBatch = 160L
  private val Samples      = Set(50L, 100L, 250L, 500L, 750L, 990L)

  /** Number of open Kafka clients in this JVM, counted by their JMX beans. */
  private def clients(): Int = {
    val beans = ManagementFactory.getPlatformMBeanServer
    val kinds = Seq("kafka.consumer:type=consumer-metrics,*", "kafka.admin.client:type=admin-client-metrics,*")
    kinds.map(kind => beans.queryNames(new javax.management.ObjectName(kind), null).size).sum
  }

  private def threads(): Int = Thread.getAllStackTraces.keySet.asScala.count { thread =>
    val name = thread.getName
    name.startsWith("splice-") || name.startsWith("kafka-admin") || name.startsWith("kafka-consumer") ||
    name.startsWith("kafka-coordinator")
  }

  final private class Watch extends StreamingQueryListener {

    private val seen = new ConcurrentHashMap[Long, (Long, Int)]

    def rows: Seq[Seq[String]] = seen.asScala.toSeq.sortBy(_._1).map { case (batch, (bytes, clients)) =>
      Seq(batch.toString, (bytes >> 20).toString, clients.toString)
    }

    override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
      if (Samples(event.progress.batchId)) {
        System.gc()
        val runtime = Runtime.getRuntime
        val _       = seen.put(event.progress.batchId, (runtime.totalMemory - runtime.freeMemory) -> clients())
      }

    override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit       = ()
    override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = ()
  }
}
