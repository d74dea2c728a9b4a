// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import java.util.concurrent.{CopyOnWriteArrayList, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import splice.source.internal.polling.BackgroundPoller
import splice.testkit.LoggedMessages
import splice.testkit.internal.Patient

/** Tests of discovery on a separate thread. */
final class BackgroundPollerSuite extends AnyFunSuite with Patient {

  private val name = s"looks-of-${getClass.getSimpleName}"

  /** Numbered runs of discovery. Each run may wait or fail. */
  final private class World(interval: Duration = Duration.ofMillis(1))(look: Int => Unit) extends AutoCloseable {
    val begun = new AtomicInteger

    val poller = new BackgroundPoller(name, interval, Clock.systemUTC(), "Discovery failed")({
      val number = begun.incrementAndGet()
      look(number)
      number
    })

    override def close(): Unit = poller.close()
  }

  private def await(latch: CountDownLatch): Unit = assert(awaited(latch))

  private def using(world: World)(body: World => Unit): Unit =
    try body(world)
    finally world.close()

  private def isAlive: Boolean = Thread.getAllStackTraces.keySet.asScala.exists(t => t.getName == name && t.isAlive)

  private def warned(body: => Any): Seq[String] = LoggedMessages.during(classOf[BackgroundPoller[_]].getName)(body)._2

  test("a result is returned once, and not after a discovery of the caller") {
    val (second, go) = (new CountDownLatch(1), new CountDownLatch(1))
    using(new World()({ number =>
      if (number == 2) {
        second.countDown()
        await(go)
      }
    })) { w =>
      w.poller.begin()
      await(second)
      assert(w.poller.now() == 3 && w.poller.news().isEmpty, "the first result is older")
      go.countDown()
      eventually(assert(w.poller.news().nonEmpty))
    }
  }

  test("each failed discovery logs a warning, and the next success ends the failures") {
    using(new World()(number => if (number <= 2) throw new IllegalStateException("away"))) { w =>
      val messages = warned {
        w.poller.begin()
        eventually(assert(w.poller.news().nonEmpty))
      }
      assert(messages == Seq.fill(2)("Discovery failed: away"))
      assert(w.poller.health.failures == 0 && w.poller.health.failing.isEmpty && w.poller.health.seen.nonEmpty)
    }
  }

  test("failures are counted until a success, with the time of the first failure and the error of the last failure") {
    val fails = new AtomicBoolean(true)
    using(new World()(number => if (fails.get) throw new IllegalStateException(s"away $number"))) { w =>
      def failing = w.poller.health.failing.get
      val before  = Instant.now()
      w.poller.begin()
      eventually(assert(w.poller.health.failures >= 1))
      val first = failing._1
      assert(!first.isBefore(before) && !first.isAfter(Instant.now()))
      eventually(assert(w.poller.health.failures >= 3))
      assert(failing._1 == first && failing._2.getMessage.stripPrefix("away ").toInt >= 3)
      assert(w.poller.health.seen.isEmpty)
      fails.set(false)
      eventually(assert(w.poller.health.failures == 0 && w.poller.health.failing.isEmpty))
    }
  }

  test("a failure that another component reports counts until the next discovery") {
    using(new World(Duration.ofHours(1))(_ => ())) { w =>
      w.poller.failed(new IllegalStateException("first"))
      w.poller.failed(new IllegalStateException("second"))
      assert(w.poller.health.failures == 2 && w.poller.health.failing.exists(_._2.getMessage == "second"))
      w.poller.now()
      assert(w.poller.health.failures == 0)
    }
  }

  test("close aborts the current discovery without a failure, and ends the thread") {
    Seq[Throwable => Throwable](identity, e => new IllegalStateException(e)).foreach { shown =>
      val under = new CountDownLatch(1)
      val w     = new World()({ _ =>
        under.countDown()
        try new CountDownLatch(1).await()
        catch { case e: InterruptedException => throw shown(e) }
      })
      val messages = warned {
        w.poller.begin()
        await(under)
        w.close()
        eventually(assert(!isAlive))
      }
      assert(messages.isEmpty && w.poller.health.failures == 0 && w.begun.get == 1)
    }
  }

  test("no discovery runs before the start, and work is done between two discoveries") {
    eventually(assert(!isAlive))
    using(new World(Duration.ofHours(1))(_ => ())) { w =>
      assert(!isAlive, "no thread before the first work")
      assert(w.poller.between("done").get(1, TimeUnit.MINUTES) == "done" && w.begun.get == 0)
    }
  }

  test("close cancels the current discovery and calls the last work once, on the thread if the discovery ends") {
    Seq(true, false).foreach { endsIfInterrupted =>
      val (under, go, last) = (new CountDownLatch(1), new CountDownLatch(1), new CopyOnWriteArrayList[Boolean])
      val looking           = new AtomicReference[Thread]
      val w                 = new World()({ _ =>
        looking.set(Thread.currentThread)
        under.countDown()
        try await(go)
        catch { case _: InterruptedException if !endsIfInterrupted => await(go) }
      })
      w.poller.begin()
      await(under)
      var others = 0
      w.poller.close(Duration.ofMinutes(if (endsIfInterrupted) 1 else 0)) {
        val _ = last.add(Thread.currentThread == looking.get)
      }(others += 1)
      eventually(assert(last.asScala == Seq(endsIfInterrupted) && others == 1))
      go.countDown()
      eventually(assert(!isAlive))
      assert(last.size == 1)
    }
  }
}
