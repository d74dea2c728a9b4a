// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import scala.collection.mutable

import org.apache.spark.{SparkContext, SparkEnv}

import splice.source.TaskRanges

/** On which executor each slot was read last: its reader is still open there. Used by the driver when it plans.
  *
  * A task that prefers an executor waits for it for `spark.locality.wait`, even while another core is free. So a task is sent home only
  * where there is a core for it: never to an executor that is gone, and to no executor more tasks than it has cores. The others prefer
  * nothing, and start wherever there is room. An executor that comes or goes moves only the slots that were there.
  */
final private[spark] class SlotLocality(cores: () => Map[String, Int]) {

  private val homes = mutable.Map.empty[Int, SlotHome]

  private var moved = 0L

  /** How many times a slot was read elsewhere than before. */
  def moves: Long = moved

  /** Where each of a batch's tasks would best run: its slot's home, or near its data. */
  def locations(tasks: Seq[TaskRanges]): Seq[Array[String]] = {
    val left = if (homes.isEmpty) mutable.Map.empty[String, Int] else mutable.Map.from(cores())
    val sent = mutable.Set.empty[Int]
    tasks.map { task =>
      task.slot match {
        case Some(slot) => homes.get(slot).filter(takes(left, sent, slot)).map(_.location).toArray
        case None       => task.ranges.iterator.flatMap(_.preferredHosts).distinct.take(3).toArray
      }
    }
  }

  /** Learns where tasks have read slots. */
  def learn(read: Seq[(Int, SlotHome)]): Unit = read.foreach { case (slot, home) =>
    if (homes.put(slot, home).exists(_ != home)) moved += 1
  }

  // Only one of several tasks of a slot finds the slot's reader.
  private def takes(left: mutable.Map[String, Int], sent: mutable.Set[Int], slot: Int)(home: SlotHome): Boolean = {
    val room = left.getOrElse(home.address, 0) > 0 && sent.add(slot)
    if (room) left(home.address) -= 1
    room
  }
}

/** An executor.
  *
  * @param address
  *   host and port by which Spark's status knows it
  * @param location
  *   how a task says that it prefers it
  */
final private[spark] case class SlotHome(address: String, location: String)

private[spark] object SlotHome {

  // How Spark names the executor of local mode, where there is nothing to choose.
  private val Driver = "driver"

  /** The executor of the running task; None in local mode. */
  def ofTask: Option[SlotHome] = {
    val env = SparkEnv.get
    val id  = env.blockManager.blockManagerId
    Option.when(env.executorId != Driver)(SlotHome(
      s"${id.host}:${id.port}",
      s"executor_${id.host}_${env.executorId}"
    ))
  }
}

private[spark] object SlotLocality {

  def apply(context: SparkContext): SlotLocality = new SlotLocality(() => cores(context))

  /** How many tasks at once each executor that is alive can run. What else runs there just now, Spark's status says too late. */
  private def cores(context: SparkContext): Map[String, Int] = {
    val executors = context.getExecutorMemoryStatus.keySet
    val conf      = context.getConf
    // The driver is one of them.
    val others = math.max(executors.size - 1, 1)
    val each   = conf.getInt("spark.executor.cores", math.max(context.defaultParallelism / others, 1))
    val tasks  = math.max(each / conf.getInt("spark.task.cpus", 1), 1)
    executors.iterator.map(_ -> tasks).toMap
  }
}
