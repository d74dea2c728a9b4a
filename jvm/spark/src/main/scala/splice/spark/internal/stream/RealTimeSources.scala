// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.time.Duration

import scala.collection.mutable
import scala.ref.WeakReference

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import splice.spark.internal.errors.FrontErrors

/** The sources of Splice in one run of a query in real-time mode.
  *
  * Spark reads all sources of a query in one batch, and all tasks of a batch begin at the same time. A task that waits
  * for a core until the end of the batch reads no row. Therefore, the sources share the tasks that the executors can
  * run at the same time. A batch ends when the tasks of all sources have ended. Therefore, a change of one source ends
  * the tasks of all sources.
  *
  * @param tasks
  *   the number of tasks that the executors can run at the same time now, or 0 if no executor is registered
  * @param isFixed
  *   true if this number does not change while the query runs
  */
final private[spark] class RealTimeSources(tasks: () => Int, isFixed: Boolean) {

  private var members = Vector.empty[RealTimeSource]
  private var lacking = false
  // The number of the last batch that a change has ended.
  private var changed = 0L

  /** Adds a source. Spark prepares all sources of a query before the first batch.
    *
    * @param slots
    *   the number of tasks that the user sets for the source, if any
    */
  def join(slots: Option[Int]): RealTimeSource = synchronized {
    val member = new RealTimeSource(this, slots)
    members :+= member
    member
  }

  private[stream] def leave(member: RealTimeSource): Unit = synchronized {
    members = members.filterNot(_ eq member)
  }

  /** Records that a batch of a source begins. Spark begins a batch of all sources before the tasks of the batch are
    * planned. Fails if some sources would have no task.
    */
  private[stream] def begin(member: RealTimeSource)(update: => Unit): Unit = synchronized {
    if (members.headOption.exists(_ eq member)) requireTasks()
    update
  }

  // On a cluster, a batch may begin before the executors are registered. Spark requests executors for the tasks of the
  // batch. Without an executor, the number of cores of an executor is unknown.
  private def requireTasks(): Unit = {
    val can   = tasks()
    val lacks = can < members.size
    if (lacks && can > 0 && (isFixed || lacking)) throw FrontErrors.tooFewCores(members.size, can)
    if (lacks)
      RealTimeSources.logger.warn(
        s"The executors can run only $can tasks at the same time, fewer than the sources of Splice in the query (${members.size}). A source is not read while its task waits for a core"
      )
    lacking = lacks
  }

  private[stream] def available(member: RealTimeSource): Int = synchronized {
    val shares = RealTimeSources.shares(tasks(), members.map(_.slots))
    members.indexWhere(_ eq member) match {
      case -1    => tasks()
      case index => shares(index)
    }
  }

  private[stream] def staleInterval: Option[Duration] = synchronized(members.flatMap(_.interval).minOption)

  /** True if a source has changed since the batch began at all sources. The result stays true until the next batch, so
    * that the tasks of all sources end.
    */
  private[stream] def isStale: Boolean = synchronized {
    val batches = members.map(_.batch).distinct
    batches.size == 1 && {
      if (changed != batches.head && members.exists(_.isChanged)) changed = batches.head
      changed == batches.head
    }
  }
}

/** One source of a run in real-time mode. The query's thread calls all methods except [[isStale]].
  *
  * @param slots
  *   the number of tasks that the user sets for the source, if any
  */
final private[spark] class RealTimeSource private[stream] (all: RealTimeSources, val slots: Option[Int]) {

  private var begun  = 0L
  private var ending = Option.empty[(Duration, () => Boolean)]

  /** Records that a batch begins.
    *
    * @param change
    *   the minimum interval between two checks of the source for a change, and the check, which any thread may call.
    *   None if changes of the source end no batch
    */
  def begin(change: Option[(Duration, () => Boolean)]): Unit = all.begin(this) {
    begun += 1
    ending = change
  }

  /** The number of tasks of this source that the executors can run at the same time now. */
  def available: Int = all.available(this)

  /** The minimum interval between two checks for a stale batch, or None if no source of the query ends a batch. */
  def staleInterval: Option[Duration] = all.staleInterval

  /** True if the batch must end, because a source of the query has changed. Any thread may call this method. */
  def isStale: Boolean = all.isStale

  /** Removes the source when the query stops. */
  def leave(): Unit = all.leave(this)

  private[stream] def batch: Long                = begun
  private[stream] def interval: Option[Duration] = ending.map(_._1)
  private[stream] def isChanged: Boolean         = ending.exists { case (_, check) => check() }
}

private[spark] object RealTimeSources {

  private val logger = LoggerFactory.getLogger(classOf[RealTimeSources])

  // Spark's local property with the id of the run, which Spark sets on the query's thread.
  private val Run = "spark.jobGroup.id"

  // Spark does not stop the sources of a query that fails during its preparation. Only the sources keep their run.
  private val runs = mutable.Map.empty[String, WeakReference[RealTimeSources]]

  /** Returns the sources of the query that this thread runs. */
  def ofQuery(spark: SparkSession): RealTimeSources = {
    def created = new RealTimeSources(() => CoordinatorFactory.capacity(spark), spark.sparkContext.isLocal)
    Option(spark.sparkContext.getLocalProperty(Run)).fold(created) { run =>
      runs.synchronized {
        runs.get(run).flatMap(_.get).getOrElse {
          runs.filterInPlace((_, sources) => sources.get.nonEmpty)
          val sources = created
          runs(run) = new WeakReference(sources)
          sources
        }
      }
    }
  }

  /** Divides tasks among sources. Each source has at least one task. A source that uses fewer tasks than its share leaves
    * the rest to the other sources.
    *
    * @param slots
    *   for each source, the maximum number of tasks, if any
    */
  private[stream] def shares(tasks: Int, slots: Seq[Option[Int]]): Seq[Int] = {
    val least  = slots.indices.sortBy(slots(_).getOrElse(Int.MaxValue))
    val shares = mutable.Map.empty[Int, Int]
    least.zipWithIndex.foreach { case (source, number) =>
      val fair = math.max((tasks - shares.values.sum) / (slots.size - number), 1)
      shares(source) = slots(source).fold(fair)(math.min(_, fair))
    }
    slots.indices.map(shares)
  }
}
