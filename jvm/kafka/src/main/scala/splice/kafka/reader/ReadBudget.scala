// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.{SparkConf, SparkEnv}

import splice.kafka.options.ReadLimits

/** The bytes that all Kafka readers of one JVM may hold, divided among the consumers that are open. Used by any thread.
  *
  * A share is the whole divided by the number of tasks that run at the same time, or by the number of open consumers if that is greater,
  * rounded up to a power of two. So shares of open consumers stay right while a few more are opened.
  *
  * @param default
  *   the bytes, if no query with an open consumer sets `readBufferBytes`; else the smallest of the values that are set
  * @param tasks
  *   how many tasks run at the same time
  */
final private[splice] class ReadBudget(default: Long, tasks: Int) {

  import ReadBudget._

  private val leases = mutable.LinkedHashSet.empty[ReadLease]

  /** The bytes that may be held now. */
  def total: Long = synchronized(totalWith(None))

  /** The bytes that open consumers may hold by their limits. */
  def held: Long = synchronized(leases.iterator.map(_.bytes).sum)

  /** The number of open consumers. */
  def size: Int = synchronized(leases.size)

  /** Whether consumers should be closed that no task uses. */
  def isExceeded: Boolean = synchronized(held > total || leases.size > MostConsumers)

  /** Whether a consumer can be opened without closing another one. */
  def hasRoom(demand: ReadDemand): Boolean = synchronized(fits(demand.lease(share(demand, leases.size + 1)), demand))

  /** Whether an open consumer can serve a task: its limits are within its present share, and not far below. */
  def serves(lease: ReadLease, demand: ReadDemand): Boolean = synchronized {
    val own    = lease.limits
    val wanted = demand.of(own.partitions).limits(share(demand, leases.size))
    demand.partitions <= own.partitions &&
    own.fetchBytes <= wanted.fetchBytes && own.leftoverBytes <= wanted.leftoverBytes &&
    // The size of records is an estimate that changes a little all the time.
    own.pollRecords <= 2L * wanted.pollRecords &&
    wanted.fetchBytes < Growth * own.fetchBytes && wanted.pollRecords < Growth * own.pollRecords
  }

  /** The lease of a consumer that is opened now. It ends with [[ReadLease.release]].
    *
    * @param evict
    *   closes a consumer that no task uses; false if there is none
    */
  @tailrec def lease(demand: ReadDemand)(evict: () => Boolean): ReadLease = take(demand) match {
    case Some(own)       => own
    case None if evict() => lease(demand)(evict)
    case None            => takeRest(demand)
  }

  private def take(demand: ReadDemand): Option[ReadLease] = synchronized {
    val wanted = demand.lease(share(demand, leases.size + 1))
    Option.when(fits(wanted, demand))(open(wanted))
  }

  /** Half of what no consumer has, so that a next consumer finds something too. */
  private def takeRest(demand: ReadDemand): ReadLease = synchronized {
    val share = this.share(demand, leases.size + 1)
    open(demand.lease(math.max(math.min(share, (totalWith(demand.budget) - held) / 2), LeastShare)))
  }

  private def open(lease: ReadLease): ReadLease = {
    leases += lease
    lease.onRelease(() => synchronized { val _ = leases.remove(lease) })
    lease
  }

  private def fits(lease: ReadLease, demand: ReadDemand): Boolean =
    leases.size < MostConsumers && held + lease.bytes <= totalWith(demand.budget)

  private def share(demand: ReadDemand, consumers: Int): Long = {
    val parts = ReadLimits.powerOfTwo(math.max(tasks * demand.atOnce, consumers))
    math.max(totalWith(demand.budget) / parts, LeastShare)
  }

  private def totalWith(more: Option[Long])
      : Long = (leases.iterator.flatMap(_.budget) ++ more).minOption.getOrElse(default)
}

/** The needs of a task's consumer.
  *
  * @param partitions
  *   how many are assigned
  * @param recordBytes
  *   the average size of a record, if one was read
  * @param budget
  *   the query's `readBufferBytes`, if it is set
  * @param atOnce
  *   how many consumers a task has at the same time
  * @param batches
  *   whether polls return record batches
  * @param allowed
  *   limits that the user set are lower
  */
final private[splice] case class ReadDemand(
    partitions: Int,
    recordBytes: Option[Double],
    budget: Option[Long],
    atOnce: Int = 1,
    batches: Boolean = false
)(allowed: ReadLimits => ReadLimits = identity) {

  def limits(share: Long): ReadLimits = allowed(
    if (batches) ReadLimits.ofBatches(share, partitions) else ReadLimits.within(share, partitions, recordBytes)
  )

  def lease(share: Long): ReadLease = new ReadLease(limits(share), recordBytes, budget)

  def of(partitions: Int): ReadDemand = copy(partitions = partitions)(allowed)
}

/** The limits of an open consumer.
  *
  * @param budget
  *   the `readBufferBytes` of its query, if it is set
  */
final private[splice] class ReadLease(val limits: ReadLimits, recordBytes: Option[Double], val budget: Option[Long]) {

  @volatile private var released: () => Unit = () => ()

  /** The bytes that the consumer may hold. */
  val bytes: Long = limits.fixedBytes + limits.pollBytes(recordBytes.getOrElse(ReadLimits.UnknownRecord))

  private[reader] def onRelease(work: () => Unit): Unit = released = work

  /** Ends the lease, once the consumer is closed. Further calls have no effect. */
  def release(): Unit = released()
}

private[splice] object ReadLease {

  /** The lease of a consumer that no budget limits. */
  def unlimited: ReadLease =
    new ReadLease(ReadLimits(Int.MaxValue, Int.MaxValue, Int.MaxValue, Int.MaxValue, Long.MaxValue), None, None)
}

private[splice] object ReadBudget {

  // Sockets, metrics and threads of consumers are not in the budget. Spark's own source keeps that many consumers.
  private val MostConsumers = 64

  // A consumer needs a few responses and records to be of use.
  private val LeastShare = 1L << 20

  // A consumer is opened again if its limits could be that many times as high.
  private val Growth = 8L

  private val Most = 512L << 20

  /** An eighth of the heap, 512 MiB at most. */
  def default(heap: Long): Long = math.max(math.min(heap / 8, Most), ReadLimits.LeastBudget)

  /** The budget of this JVM. */
  lazy val ofExecutor: ReadBudget = {
    val processors = Runtime.getRuntime.availableProcessors
    new ReadBudget(
      default(Runtime.getRuntime.maxMemory),
      Option(SparkEnv.get).fold(processors)(env => tasks(env.conf, processors))
    )
  }

  private val Local = """local\[(\d+)(?:,.*)?\]""".r

  /** How many tasks run at the same time in a JVM with this configuration. */
  private[reader] def tasks(conf: SparkConf, processors: Int): Int = {
    val set   = conf.getOption("spark.executor.cores").flatMap(_.toIntOption)
    val cores = conf.get("spark.master", "local[*]") match {
      case Local(threads)                                   => threads.toInt
      case m if m == "local"                                => 1
      case m if m.startsWith("local[")                      => processors
      case m if m.startsWith("yarn") || m.startsWith("k8s") => set.getOrElse(1)
      case _                                                => set.getOrElse(processors)
    }
    math.max(cores / conf.getInt("spark.task.cpus", 1), 1)
  }
}
