// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.metrics

import java.time.Duration
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.datasketches.kll.KllLongsSketch
import org.apache.datasketches.memory.Memory
import org.apache.spark.TaskContext

import splice.source.SplitReader
import splice.source.internal.ClockInterval
import splice.source.runtime.ProgressMetric

/** Latencies of rows in milliseconds, from their timestamps to their return to Spark. The values are in a sketch
  * (Apache DataSketches KLL), in which the rank of a quantile is exact to 0.3 %.
  */
final private[spark] case class Latencies(sketch: Array[Byte])

private[spark] object Latencies {

  val None: Latencies = Latencies(Array.emptyByteArray)

  // A sketch with a rank error of 0.3 % has a size of about 20 KiB.
  private val Accuracy = 1024

  private val ranks =
    Seq(ProgressMetric.LatencyP50 -> 0.5, ProgressMetric.LatencyP95 -> 0.95, ProgressMetric.LatencyP99 -> 0.99)

  def empty(): KllLongsSketch = KllLongsSketch.newHeapInstance(Accuracy)

  def of(sketch: KllLongsSketch): Latencies = if (sketch.isEmpty) None else Latencies(sketch.toByteArray)

  def merged(all: Iterable[Latencies]): KllLongsSketch = {
    val sum = empty()
    all.foreach(task => if (task.sketch.nonEmpty) sum.merge(KllLongsSketch.heapify(Memory.wrap(task.sketch))))
    sum
  }

  /** Returns the quantiles of several tasks together. Empty if the tasks returned no row that has a time. */
  def figures(all: Iterable[Latencies]): Map[String, String] =
    quantiles(merged(all)).map { case (name, value) => name -> value.toString }

  def quantiles(sketch: KllLongsSketch): Map[String, Long] =
    if (sketch.isEmpty) Map.empty else ranks.map { case (name, rank) => name -> sketch.getQuantile(rank) }.toMap

  val names: Seq[String] = ranks.map(_._1)
}

/** Records the latencies of one task. The task's thread calls all methods except [[recent]], which any thread may call.
  *
  * @param query
  *   the name of the query, or its id if the query has no name
  */
final private[spark] class LatencyRecorder(val query: String, closed: LatencyRecorder => Unit) extends AutoCloseable {

  private val total    = Latencies.empty()
  private var window   = Latencies.empty()
  private val interval = new ClockInterval(LatencyRecorder.Window, System.currentTimeMillis())

  // The last rows, and their common latency. The rows of one millisecond have few different latencies.
  private var common = 0L
  private var rows   = 0L

  @volatile private var last = 0L -> Latencies.None

  /** Returns the latencies of the last complete window, or no latencies if the window ended long ago. Only the return
    * of a row ends a window, so no window ends while a task returns no rows.
    */
  def recent: Latencies = {
    val (ended, latencies) = last
    if (System.currentTimeMillis() - ended > 2 * LatencyRecorder.Window.toMillis) Latencies.None else latencies
  }

  /** Records a row with the time `time` that the reader returns at the time `now`. */
  def add(time: Long, now: Long): Unit = {
    if (interval.hasEnded(now)) turn(now)
    if (time != SplitReader.NoTime) {
      val latency = now - time
      if (latency != common) {
        addCommon()
        common = latency
      }
      rows += 1
    }
  }

  private def addCommon(): Unit = {
    if (rows >= LatencyRecorder.LongRun) window.update(common, rows)
    else
      while (rows > 0) {
        window.update(common)
        rows -= 1
      }
    rows = 0
  }

  private def turn(now: Long): Unit = {
    addCommon()
    last = now -> Latencies.of(window)
    total.merge(window)
    window = Latencies.empty()
    interval.restart(now)
  }

  /** Returns the latencies of all rows so far. */
  def all: Latencies = {
    turn(System.currentTimeMillis())
    Latencies.of(total)
  }

  override def close(): Unit = closed(this)
}

private object LatencyRecorder {
  private val Window = Duration.ofSeconds(5)

  // The number of rows from which one weighted update of the sketch takes less time than one update per row. A weighted
  // update merges sketches.
  private val LongRun = 256L
}

/** The latencies of the tasks that run in this JVM, as gauges of Spark's metric system, if [[MetricsPlugin]] is set. */
private[spark] object LatencyBoard {

  private val running = ConcurrentHashMap.newKeySet[LatencyRecorder]()

  @volatile private var current = Option.empty[MetricRegistry]

  /** Registers gauges in this registry from now on. One gauge is registered at once, because Spark reads a registry
    * later only if the registry has a gauge at the start.
    */
  def open(registry: MetricRegistry): Unit = {
    val tasks: Gauge[Int] = () => running.size
    val _                 = registry.register("latencyTasks", tasks)
    current = Some(registry)
  }

  def close(): Unit = current = None

  /** Starts the recorder of the task that this thread runs. */
  def begin(): LatencyRecorder = {
    val query   = Option(TaskContext.get()).fold("query")(task => QueryGauges.queryOf(task.getLocalProperty(_)))
    val created = new LatencyRecorder(ProgressMetric.part(query), end)
    synchronized {
      if (!running.asScala.exists(_.query == created.query))
        for (registry <- current; name <- Latencies.names) {
          val gauge: Gauge[Double] = () => quantile(created.query, name)
          val _                    = registry.remove(s"${created.query}.$name")
          val _                    = registry.register(s"${created.query}.$name", gauge)
        }
      val _ = running.add(created)
    }
    created
  }

  private def end(task: LatencyRecorder): Unit = synchronized {
    val _ = running.remove(task)
    if (!running.asScala.exists(_.query == task.query))
      for (registry <- current; name <- Latencies.names) { val _ = registry.remove(s"${task.query}.$name") }
  }

  // NaN until a task has returned a row.
  private def quantile(query: String, name: String): Double =
    Latencies.quantiles(Latencies.merged(running.asScala.filter(_.query == query).map(_.recent)))
      .get(name).fold(Double.NaN)(_.toDouble)
}
