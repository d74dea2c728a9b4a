// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.util.{Map => JMap}

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}

import splice.spark.internal.metrics.{LatencyBoard, QueryGauges}

/** Exports the figures of queries to Spark's metric system. To use this plugin, set `spark.plugins` to this class
  * (Spark's SparkPlugin).
  *
  * Gauges have the names `<query>.<source>.<figure>`. Kafka sources also have
  * `<query>.<source>.topics.<topic>.<figure>`. Sources with many clusters have
  * `<query>.<source>.clusters.<cluster>.<figure>` and `<query>.<source>.clusters.<cluster>.topics.<topic>.<figure>`.
  * Figures whose names end in `Total` are counters. Gauges and counters are removed when their query stops.
  *
  * `<query>` is the name of the query, or its id if the query has no name. `<source>` is the number of the source in
  * `sources/<n>`. Executors show `<query>.latencyP50Ms`, `latencyP95Ms` and `latencyP99Ms` of the last five seconds
  * while they run tasks in real-time mode or continuous mode.
  */
final class MetricsPlugin extends SparkPlugin {

  override def driverPlugin(): DriverPlugin = new DriverPlugin {

    override def init(context: SparkContext, plugin: PluginContext): JMap[String, String] = {
      QueryGauges.open(plugin.metricRegistry())
      java.util.Map.of()
    }

    override def shutdown(): Unit = QueryGauges.close()
  }

  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {

    override def init(plugin: PluginContext, extra: JMap[String, String]): Unit =
      LatencyBoard.open(plugin.metricRegistry())

    override def shutdown(): Unit = LatencyBoard.close()
  }
}
