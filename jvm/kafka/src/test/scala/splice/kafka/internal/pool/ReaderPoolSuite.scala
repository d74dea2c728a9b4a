// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, Executors}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.Patient

final class ReaderPoolSuite extends AnyFunSuite with Patient {

  final private class Thing(val number: Int) extends AutoCloseable {
    @volatile var closed       = false
    override def close(): Unit = closed = true
  }

  private val minute = Duration.ofMinutes(1)

  private def pool(clock: () => Long = () => 0L) = new ReaderPool[String, Thing](clock)

  test("a returned resource is borrowed again only with its key") {
    val p = pool()
    val a = new Thing(1)
    p.giveBack("a", a, minute)
    assert(p.borrow("b")(_ => 0).isEmpty)
    assert(p.borrow("a")(_ => 0).contains(a))
    assert(p.borrow("a")(_ => 0).isEmpty && p.size == 0)
  }

  test("the best of several resources is borrowed") {
    val p = pool()
    (1 to 3).foreach(i => p.giveBack("a", new Thing(i), minute))
    assert(p.borrow("a")(t => if (t.number == 2) 1 else 0).map(_.number).contains(2))
    assert(p.size == 2)
  }

  test("only resources that are idle for too long are closed") {
    var now = Long.MaxValue - 1
    val p   = pool(() => now)
    val old = new Thing(1)
    val own = new Thing(2)
    p.giveBack("a", old, Duration.ofNanos(10))
    p.giveBack("a", own, minute)
    p.evict()
    assert(!old.closed)
    now += 10
    p.evict()
    assert(old.closed && !own.closed)
    assert(p.borrow("a")(_ => 0).contains(own))
  }

  test("the end of a run closes only its resources, immediately") {
    val p     = pool()
    val own   = new Thing(1)
    val other = new Thing(2)
    p.giveBack("a", own, minute)
    p.giveBack("b", other, minute)
    p.release(_ == "a")
    assert(own.closed && !other.closed && p.size == 1)
  }

  test("a resource that fails to close does not keep other resources open") {
    val broken: AutoCloseable = () => throw new IllegalStateException("not closed")
    def check(end: ReaderPool[String, AutoCloseable] => Unit): Unit = {
      val p     = new ReaderPool[String, AutoCloseable](() => 0L)
      val whole = Seq(new Thing(1), new Thing(2))
      Seq(whole.head, broken, whole.last).foreach(p.giveBack("a", _, Duration.ZERO))
      end(p)
      assert(whole.forall(_.closed) && p.size == 0)
    }
    check(_.evict())
    check(_.release(_ == "a"))
    check(_.close())
    check(p => while (p.evictOldest()) ())
  }

  test("close closes idle resources and resources that are returned later") {
    val p    = pool()
    val idle = new Thing(1)
    val late = new Thing(2)
    p.giveBack("a", idle, minute)
    p.close()
    p.giveBack("a", late, minute)
    assert(idle.closed && late.closed && p.size == 0)
  }

  test("the eviction thread exists only while resources are idle") {
    val name        = s"eviction-of-${getClass.getSimpleName}"
    def threads     = Thread.getAllStackTraces.keySet.asScala.filter(t => t.getName == name && t.isAlive)
    val p           = new ReaderPool[String, Thing](() => 0L, Some(new EvictionThread(name, minute)))
    val (a, b)      = (new Thing(1), new Thing(2))
    def backAgain() = Seq("a" -> a, "b" -> b).foreach { case (key, thing) => p.giveBack(key, thing, minute) }
    assert(threads.isEmpty)
    backAgain()
    assert(threads.size == 1)
    p.release(_ == "a")
    assert(threads.size == 1)
    p.release(_ == "b")
    eventually(assert(threads.isEmpty))
    backAgain()
    assert(threads.size == 1)
    p.close()
    eventually(assert(threads.isEmpty))
  }

  test("the eviction thread ends after the last resource") {
    val name    = s"last-of-${getClass.getSimpleName}"
    def threads = Thread.getAllStackTraces.keySet.asScala.filter(t => t.getName == name && t.isAlive)
    val p       = new ReaderPool[String, Thing](
      () => System.nanoTime(),
      Some(new EvictionThread(name, Duration.ofMillis(10)))
    )
    val thing = new Thing(1)
    p.giveBack("a", thing, Duration.ZERO)
    eventually(assert(thing.closed && threads.isEmpty))
  }

  test("the longest idle resource is closed first") {
    val p      = pool()
    val things = (1 to 4).map(new Thing(_))
    things.foreach(t => p.giveBack(if (t.number % 2 == 0) "even" else "odd", t, minute))
    assert(p.oldest.contains("odd") && p.borrowOldest(_ == "even")(_.number > 2).map(_.number).contains(4))
    p.giveBack("odd", p.borrow("odd")(-_.number).get, minute)
    assert(p.evictOldest() && things.filter(_.closed) == Seq(things(1)), "the first resource was used later")
    assert(p.evictOldest() && p.evictOldest() && !p.evictOldest() && p.oldest.isEmpty && p.size == 0)
    assert(things.map(_.closed) == Seq(true, true, true, false))
  }

  test("a borrowed resource is never shared") {
    val p                = pool()
    val inUse            = ConcurrentHashMap.newKeySet[Thing]()
    val threads          = Executors.newFixedThreadPool(8)
    val done             = new CountDownLatch(8)
    @volatile var shared = false
    (1 to 4).foreach(i => p.giveBack("a", new Thing(i), minute))
    (1 to 8).foreach { _ =>
      threads.execute { () =>
        (1 to 2000).foreach { _ =>
          p.borrow("a")(_ => 0).foreach { thing =>
            if (!inUse.add(thing)) shared = true
            inUse.remove(thing)
            p.giveBack("a", thing, minute)
          }
        }
        done.countDown()
      }
    }
    assert(awaited(done))
    threads.shutdown()
    assert(!shared && p.size == 4)
  }
}
