// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, ReadMode}

class SteadyClockSuite extends AnyFunSuite {

  final private class Settable extends Clock {
    var now: Instant                           = Instant.parse("2026-01-01T00:00:00Z")
    override def instant(): Instant            = now
    override def getZone: ZoneId               = ZoneOffset.UTC
    override def withZone(zone: ZoneId): Clock = this
  }

  test("a change of the wall clock does not change durations") {
    val system = new Settable
    val start  = system.now
    var ticks  = -5L
    val clock  = new SteadyClock(system, () => ticks)
    Seq(-3600L, 7200L).foreach(by => system.now = system.now.plusSeconds(by))
    assert(clock.instant() == start)
    ticks += Duration.ofMinutes(3).toNanos
    assert(clock.instant() == start.plusSeconds(180))
  }

  test("the context of a part uses the steady clock of the source") {
    val steady  = new SteadyClock(new Settable)
    val context = EnumeratorContext(NoLog, ReadMode.Stream, new Settable, 1, "run", durations = Some(steady))
    assert(context.scope("part").steady eq steady)
  }

  private object NoLog extends SideLog {
    override def get(key: String): Option[Seq[String]]                         = None
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = decide
    override def keys(prefix: String): Seq[String]                             = Nil
    override def remove(key: String): Unit                                     = ()
    override def scope(name: String): SideLog                                  = this
    override def folder(name: String): Path                                    = throw new IllegalStateException(name)
  }
}
