// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.common.MetricName
import org.apache.kafka.common.metrics.{KafkaMetric, MetricsReporter}

/** Metrics reporter of a Kafka client. Each client creates one instance. */
final class ClientMetrics extends MetricsReporter {

  private val requests             = new ConcurrentHashMap[MetricName, KafkaMetric]
  private val partitions           = ConcurrentHashMap.newKeySet[MetricName]()
  @volatile private var id: String = ""

  override def configure(settings: java.util.Map[String, _]): Unit = {
    id = String.valueOf(settings.get(CommonClientConfigs.CLIENT_ID_CONFIG))
    val _ = ClientMetrics.all.add(this)
  }

  override def init(metrics: java.util.List[KafkaMetric]): Unit = metrics.forEach(metricChange(_))

  override def metricChange(metric: KafkaMetric): Unit = {
    val name = metric.metricName
    // Each connection has a metric of the same name in another group, so connections are excluded.
    if (name.name == "request-total" && !name.tags.containsKey("node-id")) { val _ = requests.put(name, metric) }
    if (name.tags.containsKey("topic") && name.tags.containsKey("partition")) { val _ = partitions.add(name) }
  }

  // A closed client removes its metrics, but its requests still count.
  override def metricRemoval(metric: KafkaMetric): Unit = { val _ = partitions.remove(metric.metricName) }

  override def close(): Unit = partitions.clear()
}

object ClientMetrics {

  private val all = new ConcurrentLinkedQueue[ClientMetrics]

  /** Options of a query whose clients have this id and this reporter. */
  def options(id: String): Seq[(String, String)] =
    Seq("kafka.client.id" -> id, "kafka.metric.reporters" -> classOf[ClientMetrics].getName)

  private def of(id: String): Seq[ClientMetrics] = all.asScala.toSeq.filter(_.id == id)

  /** Number of created clients with this id. */
  def created(id: String): Int = of(id).size

  /** Number of requests of the clients with this id. */
  def requests(id: String): Long =
    of(id).flatMap(_.requests.values.asScala).map(_.metricValue.asInstanceOf[Double].toLong).sum

  /** Topics that are assigned to open consumers with this id. */
  def assigned(id: String): Set[String] = of(id).flatMap(_.partitions.asScala.map(_.tags.get("topic"))).toSet
}
