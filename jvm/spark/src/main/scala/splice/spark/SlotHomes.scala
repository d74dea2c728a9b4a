// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.util.CollectionAccumulator
import org.apache.spark.{SparkContext, SparkEnv}

import splice.source.SlotRanges

/** On which executor each slot was read last: its reader is still open there. Filled by tasks, read by the driver when it plans. */
final private[spark] class SlotHomes(reports: CollectionAccumulator[(Int, String)]) extends Serializable {

  @transient private lazy val homes = scala.collection.mutable.Map.empty[Int, String]

  @transient private var moved = 0L

  /** How many times a slot was read elsewhere than before. */
  def moves: Long = moved

  /** Called in the task. */
  def report(task: SlotRanges): Unit = if (task.slotted) {
    val env = SparkEnv.get
    if (env.executorId != SlotHomes.Driver)
      reports.add(task.slot -> s"executor_${env.blockManager.blockManagerId.host}_${env.executorId}")
  }

  /** Where the task would best run: its slot's home, else near its data. */
  def locations(task: SlotRanges): Array[String] =
    if (task.slotted) homes.get(task.slot).toArray
    else task.ranges.iterator.flatMap(_.preferredHosts).distinct.take(3).toArray

  /** Takes over what the tasks of the last batch reported. */
  def learn(): Unit = {
    reports.value.asScala.foreach { case (slot, home) => if (homes.put(slot, home).exists(_ != home)) moved += 1 }
    reports.reset()
  }
}

private[spark] object SlotHomes {

  // How Spark names the executor of local mode, where there is nothing to choose.
  private val Driver = "driver"

  def apply(context: SparkContext): SlotHomes =
    new SlotHomes(context.collectionAccumulator[(Int, String)]("splice slot homes"))
}
