// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.{Clock, Duration, Instant, ZoneOffset}
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{CountDownLatch, ScheduledFuture, ScheduledThreadPoolExecutor, TimeUnit}

import scala.util.Using

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.enumerator.HybridEnumerator
import splice.hybrid.internal.schema.LegSelects
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{HandOver, HybridWorlds, Legs}
import splice.simulation.leg.Passing
import splice.source._
import splice.source.log.Outlook
import splice.source.options.FailOrWarn
import splice.source.runtime.{Boundedness, ProgressMetric}
import splice.testkit.LoggedMessages
import splice.testkit.internal.Patient
import splice.testkit.internal.memory.MemoryOptions

/** Tests of the comparison of a log with a history while a query reads the history. */
final class RetentionMarginSuite extends AnyFunSuite with HybridWorlds with Patient {

  /** Timer that a test advances. */
  final private class Hand extends ScheduledThreadPoolExecutor(1) {
    val task: AtomicReference[Option[(Runnable, Duration, Duration)]] = new AtomicReference(None)

    override def scheduleWithFixedDelay(run: Runnable, first: Long, next: Long, unit: TimeUnit): ScheduledFuture[_] = {
      task.set(Some((run, Duration.of(first, unit.toChronoUnit), Duration.of(next, unit.toChronoUnit))))
      super.scheduleWithFixedDelay(() => (), 1, 1, TimeUnit.DAYS)
    }

    def elapse(): Unit = task.get.foreach(_._1.run())
  }

  /** Source in memory with another outlook. */
  final private class Seen(of: Map[String, String], override val readsLog: Boolean)(
      see: (EnumeratorContext, Outlook) => Outlook
  ) extends Source[Position] {
    private val inner = Legs.source(of)

    override def kind: String                                                      = inner.kind
    override def schema: StructType                                                = inner.schema
    override def position(json: String): Position                                  = inner.position(json)
    override def boundedness: Boundedness                                          = inner.boundedness
    override def enumerator(context: EnumeratorContext): SplitEnumerator[Position] =
      new Passing(SplitEnumerator.untyped(inner, context)) {
        override def outlook(): Outlook = see(context, super.outlook())
      }
  }

  /** History of files in memory, and a log. */
  private trait Reading extends World {
    def newest: Long        = 10
    def beforeCheck(): Unit = ()
    val timer               = new Hand
    private val files       = new Seen(MemoryOptions.of(history, "bounded" -> "true").toMap, readsLog = false)((_, _) =>
      new Outlook {
        override def modified: Option[TimeRange] = Some(TimeRange(Instant.EPOCH, Instant.ofEpochSecond(newest)))
      }
    )
    private val logs = new Seen(MemoryOptions.of(live).toMap, readsLog = true)({ (context, outlook) =>
      val _ = context.sideLog.getOrCreate("outlook")(Seq("written"))
      beforeCheck()
      outlook
    })
    private def leg(name: String, of: Source[Position], rule: Option[HandOver]) =
      Leg(name, of, None, rule, FailOrWarn.Fail, "")
    private val chain =
      Chain(IndexedSeq(leg("history", files, None), leg("live", logs, Some(HandOver.offsets()))))

    private val clock = Clock.fixed(Instant.ofEpochSecond(20), ZoneOffset.UTC)

    val query: EnumeratorContext = Legs.context(log, clock).copy(columns = Some(files.schema))

    def run[A](use: HybridEnumerator => A): A = run(query)(use)

    def run[A](context: EnumeratorContext)(use: HybridEnumerator => A): A =
      Using.resource(new HybridEnumerator(chain, new LegSelects(files.schema), context, timer))(use)

    /** Begins the history, and returns its start and its end. */
    def begun(run: HybridEnumerator): (HybridPosition, HybridPosition) = {
      val start = run.start(StartPosition.Configured)
      start -> run.advance(start, Limits.NotSet)
    }

    def age(run: HybridEnumerator, at: HybridPosition): Option[String] =
      run.figures(at).get(ProgressMetric.OldestRecordAge)

    def warnings(checks: => Unit): Seq[String] =
      LoggedMessages.during(classOf[RetentionMargin].getName)(checks)._2
  }

  test("the log is requested once each 10 minutes, and the progress has the age of its oldest record") {
    new Reading {
      run { run =>
        val (_, until) = begun(run)
        assert(timer.task.get.map(task => task._2 -> task._3).contains(Duration.ofMinutes(10) ->
          Duration.ofMinutes(10)))
        assert(live.requested("outlook") == 0 && age(run, until).isEmpty)
        timer.elapse()
        assert(live.requested("outlook") == 1 && live.requested("close") == 1)
        assert(age(run, until).contains("19000"), "the partition 1 begins at second 1")
        live.forget(0, 1)
        assert(age(run, until).contains("19000") && live.requested("outlook") == 1)
        timer.elapse()
        assert(age(run, until).contains("18000") && live.requested("outlook") == 2)
        assert(log.scope("leg-live").keys("").isEmpty, "a check writes no entry of the query")
      }
    }
  }

  test("a small margin and a gap are warnings, which are repeated only after a change") {
    new Reading {
      override def newest: Long = 3
      live.append(0, 6, millis = 9000)
      run { run =>
        val _ = begun(run)
        assert(warnings(timer.elapse()).isEmpty, "retention has removed no record")
        live.forget(0, 1)
        val near = warnings { timer.elapse(); timer.elapse() }
        assert(near.size == 1 && near.head.contains("A gap between 'history' and leg 'live' is near"), near)
        assert(near.head.contains(s"${live.name}-0 begins at offset 1 of 1970-01-01T00:00:02Z"), near)
        live.forget(0, 2)
        val gap = warnings { timer.elapse(); timer.elapse() }
        assert(gap.size == 1 && gap.head.contains("A gap is expected between 'history' and leg 'live'"), gap)
      }
    }
  }

  test("a failed check is logged once, fails no batch, and is repeated") {
    new Reading {
      @volatile private var isAvailable = false
      override def beforeCheck(): Unit  = if (!isAvailable) throw new IllegalStateException("no broker responds")
      run { run =>
        val (_, until) = begun(run)
        val failed     = warnings { timer.elapse(); timer.elapse() }
        assert(failed.size == 1 && failed.head.contains("Leg 'live'") && failed.head.contains("no broker"), failed)
        assert(age(run, until).isEmpty)
        isAvailable = true
        assert(warnings(timer.elapse()).isEmpty && age(run, until).nonEmpty)
        isAvailable = false
        assert(warnings(timer.elapse()).size == 1 && age(run, until).nonEmpty)
      }
    }
  }

  test("a batch does not wait for a check, and a stop interrupts the check") {
    new Reading {
      val (begins, ends, interrupted)  = (new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1))
      override def beforeCheck(): Unit = {
        begins.countDown()
        try ends.await()
        catch {
          case e: InterruptedException =>
            interrupted.countDown()
            throw e
        }
      }
      val logged: Seq[String] = warnings(run { run =>
        val (start, until) = begun(run)
        val _              = timer.submit((() => timer.elapse()): Runnable)
        assert(awaited(begins))
        assert(run.advance(start, Limits.NotSet) == until && age(run, until).isEmpty)
      })
      assert(awaited(interrupted) && logged.isEmpty)
    }
  }

  test("the check ends with the leg before the log") {
    new Reading {
      run { run =>
        val (_, ended) = begun(run)
        timer.elapse()
        assert(!timer.isShutdown && age(run, ended).nonEmpty)
        val until = run.advance(ended, Limits.NotSet)
        assert(timer.isShutdown && until.leg == "live" && age(run, until).isEmpty)
        val before = live.requested("outlook")
        timer.elapse()
        assert(live.requested("outlook") == before)
      }
    }
  }

  test("a plan and a bounded read have no check") {
    new Reading {
      Seq(query.copy(columns = None), query.copy(mode = ReadMode.Batch)).foreach { context =>
        val _ = run(context)(begun(_))
        assert(timer.task.get.isEmpty && timer.isShutdown)
      }
    }
  }
}
