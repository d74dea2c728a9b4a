// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration

import scala.collection.mutable
import scala.util.Try

import splice.kafka.reader.ReaderPool.Idle

/** Keeps things open that nobody uses just now. Whoever borrows one has it alone. Used by any thread.
  *
  * @param clock
  *   nanoseconds, as `System.nanoTime` gives them
  * @param eviction
  *   calls [[evict]] from time to time, as long as there is something to evict
  */
final private[splice] class ReaderPool[K, A <: AutoCloseable](
    clock: () => Long,
    eviction: Option[EvictionThread] = None
) extends AutoCloseable {

  private val idle     = mutable.Map.empty[K, List[Idle[A]]]
  private var closed   = false
  private var returned = 0L

  /** One that is idle, best first by `rank`; None when there is none. */
  def borrow(key: K)(rank: A => Int): Option[A] = synchronized {
    val here = idle.getOrElse(key, Nil)
    here.maxByOption(one => rank(one.thing)).map { best =>
      keep(key, here.filterNot(_ eq best))
      best.thing
    }
  }

  /** The one that has been idle for longest among those that fit; None when none does. */
  def borrowOldest(of: K => Boolean)(fit: A => Boolean): Option[A] = synchronized {
    val all = for { (key, own) <- idle.iterator if of(key); one <- own if fit(one.thing) } yield key -> one
    all.minByOption(_._2.order).map { case (key, one) =>
      keep(key, idle(key).filterNot(_ eq one))
      one.thing
    }
  }

  /** The key of the one that has been idle for longest. */
  def oldest: Option[K] = synchronized {
    idle.iterator.flatMap { case (key, own) => own.map(_.order -> key) }.minByOption(_._1).map(_._2)
  }

  /** Closes the one that has been idle for longest; false when none is idle. */
  def evictOldest(): Boolean = {
    val oldest = borrowOldest(_ => true)(_ => true)
    oldest.foreach(close)
    oldest.nonEmpty
  }

  /** Gives one back. It must be as the next user may find it, and is closed when it stays idle for longer than `timeout`. */
  def giveBack(key: K, thing: A, timeout: Duration): Unit = {
    val kept = synchronized {
      if (!closed) {
        returned += 1
        keep(key, Idle(thing, clock() + timeout.toNanos, returned) :: idle.getOrElse(key, Nil))
        eviction.foreach(_.begin(() => evict()))
      }
      !closed
    }
    if (!kept) close(thing)
  }

  /** Closes what has been idle for too long. */
  def evict(): Unit = {
    val now = clock()
    take(_.until - now <= 0).foreach(close)
  }

  /** Closes what is idle for these keys. */
  def release(of: K => Boolean): Unit = synchronized {
    val keys  = idle.keysIterator.filter(of).toSeq
    val taken = keys.flatMap(idle)
    keys.foreach(keep(_, Nil))
    rest()
    taken
  }.foreach(one => close(one.thing))

  /** Closes everything that is idle; what is given back later is closed at once. */
  override def close(): Unit = {
    synchronized { closed = true }
    take(_ => true).foreach(close)
  }

  /** How many are idle. */
  def size: Int = count(_ => true)

  /** How many are idle for these keys. */
  def count(of: K => Boolean): Int = synchronized(idle.iterator.collect { case (key, own) if of(key) => own.size }.sum)

  private def take(which: Idle[A] => Boolean): Seq[A] = synchronized {
    val taken = idle.valuesIterator.flatten.filter(which).toSeq
    idle.keys.toSeq.foreach(key => keep(key, idle(key).filterNot(which)))
    rest()
    taken.map(_.thing)
  }

  // Not when one is borrowed: it comes back with the next batch.
  private def rest(): Unit = if (idle.isEmpty) eviction.foreach(_.end())

  private def keep(key: K, things: List[Idle[A]]): Unit = if (things.isEmpty) idle -= key else idle(key) = things

  private def close(thing: A): Unit = { val _ = Try(thing.close()) }
}

private[splice] object ReaderPool {

  final private case class Idle[A](thing: A, until: Long, order: Long)

  private val Every = Duration.ofSeconds(15)

  @volatile private var made = false

  /** Closes the idle readers of a query's run in this JVM, if there ever was one. */
  def release(run: String): Unit = if (made) ofExecutor.release(_.run == run)

  /** The readers of this executor. */
  lazy val ofExecutor: ReaderPool[ReaderKey, SlotConsumer] = {
    val eviction = new EvictionThread("splice-kafka-reader-eviction", Every)
    val pool     = new ReaderPool[ReaderKey, SlotConsumer](() => System.nanoTime(), Some(eviction))
    made = true
    Runtime.getRuntime.addShutdownHook(new Thread(() => pool.close(), "splice-kafka-reader-shutdown"))
    pool
  }
}
