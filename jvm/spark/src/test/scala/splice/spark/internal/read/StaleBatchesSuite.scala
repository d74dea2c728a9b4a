// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.util.SerializableConfiguration
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.spark.WithSpark
import splice.testkit.internal.Patient

/** The entry by which running tasks detect that their batch is stale. */
final class StaleBatchesSuite extends AnyFunSuite with WithSpark with Patient {

  private val interval = Duration.ofMillis(20)

  private lazy val shipped = spark.sparkContext.broadcast(new SerializableConfiguration(new Configuration))

  private def path(name: String) = new Path(folder.resolve(name).toUri)

  private def log(name: String) = new HadoopSideLog(path(name), new Configuration)

  private def batches(name: String)(isStale: => Boolean) =
    new StaleBatches(log(name), path(name), shipped, interval)(isStale)

  private def begun(all: StaleBatches) = {
    all.begin()
    new StaleTask(Some(all.current))(false)
  }

  private def isStale(task: StaleTask) = {
    task.check(System.currentTimeMillis())
    task.isStale
  }

  private def entries(name: String): Seq[String] = log(name).keys("stale-")

  test("a task ends after its batch is stale, and the next batch begins without an entry") {
    val stale = new AtomicBoolean
    val all   = batches("one")(stale.get)
    val first = begun(all)
    assert(!isStale(first))
    stale.set(true)
    eventually(assert(isStale(first)))
    assert(entries("one") == Seq("stale-1"))
    stale.set(false)
    val second = begun(all)
    assert(entries("one").isEmpty)
    // A slow task of the first batch stays stale.
    assert(isStale(first) && !isStale(second))
    stale.set(true)
    eventually(assert(isStale(second)))
    all.close()
    assert(entries("one").isEmpty)
  }

  test("another interval applies to a batch that has begun") {
    val all = new StaleBatches(log("slower"), path("slower"), shipped, Duration.ofHours(1))(true)
    all.begin()
    all.checkEvery(interval)
    val task = new StaleTask(Some(all.current))(false)
    eventually(assert(isStale(task)))
    assert(entries("slower") == Seq("stale-1"))
    all.close()
  }

  test("an entry of a killed run ends no batch of the next run") {
    log("killed").getOrCreate("stale-1")(Seq("left"))
    val all = batches("killed")(false)
    all.begin()
    assert(entries("killed").isEmpty)
    all.close()
  }

  test("a task that cannot read the checkpoint continues") {
    val unreadable = StaleCheck("unknown-scheme://nowhere/stale-1", shipped, Duration.ZERO)
    assert(!isStale(new StaleTask(Some(unreadable))(false)))
  }

  test("a reader that finds a change ends its task, unless changes end no batch") {
    val entry = StaleCheck(new Path(path("none"), "stale-1").toString, shipped, Duration.ZERO)
    assert(isStale(new StaleTask(Some(entry))(true)) && !isStale(new StaleTask(None)(true)))
  }

  test("a task checks once per interval, and at once after the clock was set back") {
    val checks = new java.util.concurrent.atomic.AtomicInteger
    val entry  = StaleCheck(new Path(path("none"), "stale-1").toString, shipped, Duration.ofHours(1))
    val task   = new StaleTask(Some(entry))({ checks.incrementAndGet(); false })
    val now    = System.currentTimeMillis()
    def after(hours: Int, millis: Int = 0): Int = {
      task.check(now + Duration.ofHours(hours.toLong).toMillis + millis)
      checks.get
    }
    assert(after(0) == 0 && after(2) == 1 && after(0, millis = 1000) == 1)
    assert(after(-2) == 2)
    assert(!task.isStale)
  }

  test("a failed check of the source is repeated") {
    val calls = new java.util.concurrent.atomic.AtomicInteger
    val all   = batches("failing")(if (calls.incrementAndGet() == 1) throw new IllegalStateException("once") else true)
    val task  = begun(all)
    eventually(assert(isStale(task)))
    all.close()
  }
}
