// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.{SparkConf, SparkEnv}

import splice.kafka.internal.options.ReadLimits

/** The memory for all Kafka readers of one JVM, divided among the open consumers. Thread-safe.
  *
  * A share is the total divided by the number of concurrent tasks, or by the number of open consumers if that number is
  * greater. The divisor is rounded up to a power of two. The shares of open consumers therefore remain valid while a
  * few more consumers are opened.
  *
  * @param default
  *   the bytes if no query with an open consumer sets `readBufferBytes`; otherwise, the smallest value applies
  * @param tasks
  *   the number of tasks that run at the same time
  */
final private[splice] class ReadBudget(default: Long, tasks: Int) {

  import ReadBudget._

  private val leases = mutable.LinkedHashSet.empty[ReadLease]

  /** The current budget in bytes. */
  def total: Long = synchronized(totalWith(None))

  /** The bytes that open consumers may use by their limits. */
  def held: Long = synchronized(leases.iterator.map(_.bytes).sum)

  /** The number of open consumers. */
  def size: Int = synchronized(leases.size)

  /** True if idle consumers should be closed. */
  def isExceeded: Boolean = synchronized(held > total || leases.size > MostConsumers)

  /** True if a consumer can be opened without closing another consumer. */
  def hasRoom(demand: ReadDemand): Boolean = synchronized(fits(demand.lease(share(demand, leases.size + 1)), demand))

  /** True if an open consumer can serve a task: its limits are within its current share, and not far below the share.
    */
  def serves(lease: ReadLease, demand: ReadDemand): Boolean = synchronized {
    val limits = lease.limits
    val wanted = demand.of(limits.partitions).limits(share(demand, leases.size))
    demand.partitions <= limits.partitions &&
    limits.fetchBytes <= wanted.fetchBytes && limits.leftoverBytes <= wanted.leftoverBytes &&
    // The size of records is an estimate that often changes slightly.
    limits.pollRecords <= 2L * wanted.pollRecords &&
    wanted.fetchBytes < Growth * limits.fetchBytes && wanted.pollRecords < Growth * limits.pollRecords
  }

  /** Returns the lease of a consumer that is opened now. The lease ends with [[ReadLease.release]].
    *
    * @param evict
    *   closes an idle consumer; returns false if no consumer is idle
    */
  @tailrec def lease(demand: ReadDemand)(evict: () => Boolean): ReadLease = take(demand) match {
    case Some(taken)     => taken
    case None if evict() => lease(demand)(evict)
    case None            => takeRest(demand)
  }

  private def take(demand: ReadDemand): Option[ReadLease] = synchronized {
    val wanted = demand.lease(share(demand, leases.size + 1))
    Option.when(fits(wanted, demand))(open(wanted))
  }

  /** Takes half of the free budget, so that the next consumer also gets memory. */
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
  *   the number of assigned partitions
  * @param recordBytes
  *   the average size of a record, if a record was read
  * @param budget
  *   the `readBufferBytes` of the query, if the option is set
  * @param atOnce
  *   the number of consumers that a task has at the same time
  * @param batches
  *   true if polls return record batches
  * @param allowed
  *   reduces limits to the values that the user has set
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
  *   the `readBufferBytes` of its query, if the option is set
  */
final private[splice] class ReadLease(val limits: ReadLimits, recordBytes: Option[Double], val budget: Option[Long]) {

  @volatile private var released: () => Unit = () => ()

  /** The bytes that the consumer may use. */
  val bytes: Long = limits.fixedBytes + limits.pollBytes(recordBytes.getOrElse(ReadLimits.UnknownRecord))

  private[consumer] def onRelease(work: () => Unit): Unit = released = work

  /** Ends the lease after the consumer was closed. Further calls have no effect. */
  def release(): Unit = released()
}

private[splice] object ReadLease {

  /** The lease of a consumer without a budget. */
  def unlimited: ReadLease =
    new ReadLease(ReadLimits(Int.MaxValue, Int.MaxValue, Int.MaxValue, Int.MaxValue, Long.MaxValue), None, None)
}

private[splice] object ReadBudget {

  // The budget does not include sockets, metrics and threads of consumers. Spark's Kafka source keeps the same number
  // of consumers.
  private val MostConsumers = 64

  // A consumer needs memory for a few responses and records.
  private val LeastShare = 1L << 20

  // A consumer is recreated if its limits could be higher by this factor.
  private val Growth = 8L

  private val Most = 512L << 20

  /** An eighth of the heap, at most 512 MiB. */
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

  /** The number of tasks that run at the same time in a JVM with this configuration. */
  private[kafka] def tasks(conf: SparkConf, processors: Int): Int = {
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
