// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration
import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.collection.mutable
import scala.util.Try

import splice.kafka.internal.consumer.SlotConsumer
import splice.kafka.internal.options.ClientProperties
import splice.kafka.internal.pool.ReaderPool.Idle
import splice.source.internal.DaemonThread

/** A pool of open resources. A borrowed resource has one user. Any thread may use the pool.
  *
  * @param clock
  *   the time in nanoseconds, as of `System.nanoTime`
  * @param eviction
  *   calls [[evict]] periodically while the pool has idle resources
  */
final private[splice] class ReaderPool[K, A <: AutoCloseable](
    clock: () => Long,
    eviction: Option[EvictionThread] = None
) extends AutoCloseable {

  private val idle     = mutable.Map.empty[K, List[Idle[A]]]
  private var closed   = false
  private var returned = 0L

  /** Returns the idle resource of a key with the greatest `rank`; None if no resource is idle. */
  def borrow(key: K)(rank: A => Int): Option[A] = synchronized {
    val entries = idle.getOrElse(key, Nil)
    entries.maxByOption(entry => rank(entry.resource)).map { best =>
      keep(key, entries.filterNot(_ eq best))
      best.resource
    }
  }

  /** Returns the suitable resource that has been idle for the longest time; None if no resource is suitable. */
  def borrowOldest(of: K => Boolean)(fit: A => Boolean): Option[A] = synchronized {
    val all = for {
      (key, entries) <- idle.iterator if of(key)
      entry          <- entries if fit(entry.resource)
    } yield key -> entry
    all.minByOption(_._2.order).map { case (key, entry) =>
      keep(key, idle(key).filterNot(_ eq entry))
      entry.resource
    }
  }

  /** The key of the resource that has been idle for the longest time. */
  def oldest: Option[K] = synchronized {
    idle.iterator.flatMap { case (key, entries) => entries.map(_.order -> key) }.minByOption(_._1).map(_._2)
  }

  /** Closes the resource that has been idle for the longest time. Returns false if no resource is idle. */
  def evictOldest(): Boolean = {
    val oldest = borrowOldest(_ => true)(_ => true)
    oldest.foreach(close)
    oldest.nonEmpty
  }

  /** Returns a resource to the pool. The resource must be ready for the next user. The pool closes the resource after
    * an idle time of `timeout`.
    */
  def giveBack(key: K, resource: A, timeout: Duration): Unit = {
    val kept = synchronized {
      if (!closed) {
        returned += 1
        keep(key, Idle(resource, clock() + timeout.toNanos, returned) :: idle.getOrElse(key, Nil))
        eviction.foreach(_.begin(() => evict()))
      }
      !closed
    }
    if (!kept) close(resource)
  }

  /** Closes the resources that have been idle for too long. */
  def evict(): Unit = {
    val now = clock()
    take(_.until - now <= 0).foreach(close)
  }

  /** Closes the idle resources of these keys. */
  def release(of: K => Boolean): Unit = synchronized {
    val keys  = idle.keysIterator.filter(of).toSeq
    val taken = keys.flatMap(idle)
    keys.foreach(keep(_, Nil))
    rest()
    taken
  }.foreach(entry => close(entry.resource))

  /** Closes all idle resources. A resource that is returned later is closed immediately. */
  override def close(): Unit = {
    synchronized { closed = true }
    take(_ => true).foreach(close)
  }

  /** The number of idle resources. */
  def size: Int = count(_ => true)

  /** The number of idle resources of these keys. */
  def count(of: K => Boolean): Int = synchronized {
    idle.iterator.collect { case (key, entries) if of(key) => entries.size }.sum
  }

  private def take(which: Idle[A] => Boolean): Seq[A] = synchronized {
    val taken = idle.valuesIterator.flatten.filter(which).toSeq
    idle.keys.toSeq.foreach(key => keep(key, idle(key).filterNot(which)))
    rest()
    taken.map(_.resource)
  }

  // A borrowed resource does not end the eviction, because the resource usually returns with the next batch.
  private def rest(): Unit = if (idle.isEmpty) eviction.foreach(_.end())

  private def keep(key: K, entries: List[Idle[A]]): Unit = if (entries.isEmpty) idle -= key else idle(key) = entries

  private def close(resource: A): Unit = { val _ = Try(resource.close()) }
}

private[splice] object ReaderPool {

  final private case class Idle[A](resource: A, until: Long, order: Long)

  private val Every = Duration.ofSeconds(15)

  @volatile private var created = false

  /** Closes the idle readers of a query's run in this JVM, if this JVM has created readers. */
  def release(run: String): Unit = if (created) ofExecutor.release(_.run == run)

  /** The readers of this executor. */
  lazy val ofExecutor: ReaderPool[ReaderKey, SlotConsumer] = {
    val eviction = new EvictionThread("splice-kafka-reader-eviction", Every)
    val pool     = new ReaderPool[ReaderKey, SlotConsumer](() => System.nanoTime(), Some(eviction))
    created = true
    Runtime.getRuntime.addShutdownHook(new Thread(() => pool.close(), "splice-kafka-reader-shutdown"))
    pool
  }
}

/** Runs work periodically on a daemon thread, which exists only from `begin` to `end`. Thread-safe. */
final private[splice] class EvictionThread(name: String, every: Duration) {

  private var timer: Option[ScheduledExecutorService] = None

  /** Starts the thread, unless it is running. */
  def begin(work: Runnable): Unit = synchronized {
    if (timer.isEmpty) {
      val created = Executors.newSingleThreadScheduledExecutor(DaemonThread.named(name))
      created.scheduleWithFixedDelay(work, every.toMillis, every.toMillis, TimeUnit.MILLISECONDS)
      timer = Some(created)
    }
  }

  /** Ends the thread after the current work. The work itself may call this method. */
  def end(): Unit = synchronized {
    timer.foreach(_.shutdown())
    timer = None
  }
}

/** The key of interchangeable readers. Such readers have the same run of a query, client properties and slot. */
final private[splice] case class ReaderKey(run: String, client: ClientProperties, slot: Option[Int]) {

  /** True if the other key differs only in the slot. */
  def isAlike(other: ReaderKey): Boolean = run == other.run && client == other.client
}
