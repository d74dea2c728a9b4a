// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Duration, Instant}

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog

/** Tests of the entries of merged segments. */
final class SeenEntriesSuite extends AnyFunSuite {

  private def file(number: Int, modified: Long): SeenFile = SeenFile(s"/lake/$number", modified, number.toLong)

  private def files(entries: SeenEntries): Seq[SeenFile] = {
    val all = mutable.ArrayBuffer.empty[SeenFile]
    entries.foreach(all += _)
    all.toSeq
  }

  test("the number of entries is logarithmic, and each file is written again a limited number of times") {
    (1 to 50).foreach { seed =>
      val random  = new Random(seed)
      var sizes   = Vector.empty[Int]
      var written = 0L
      var all     = 0L
      (1 to 3000).foreach { _ =>
        val size = 1 + random.nextInt(if (random.nextInt(100) == 0) 10000 else 5)
        val last = SeenEntries.merged(sizes, size)
        all += size
        written += sizes.takeRight(last).sum + size
        sizes = sizes.dropRight(last) :+ (sizes.takeRight(last).sum + size)
        assert(sizes.size <= 20, sizes)
      }
      assert(written <= all * 20, s"seed $seed: $written of $all")
    }
  }

  test("a later run has the files that are not forgotten, the limit, and the number of forgotten files") {
    (1 to 30).foreach { seed =>
      val random = new Random(seed)
      val log    = new MemorySideLog
      var all    = Vector.empty[SeenFile]
      var limit  = Option.empty[Long]
      (1 to 40).foreach { _ =>
        val added = Seq.fill(1 + random.nextInt(30))(file(random.nextInt(), random.nextInt(1000).toLong))
        if (random.nextInt(8) == 0) limit = Some(limit.getOrElse(0L) + random.nextInt(50))
        val entries = new SeenEntries(log)
        assert(entries.add(added, limit))
        all ++= added
        Seq(entries, new SeenEntries(log)).foreach { entries =>
          val kept = files(entries)
          // Entries that were not merged again still have files before the limit.
          assert(all.diff(kept).forall(file => limit.exists(file.modified < _)), s"seed $seed")
          assert(kept.diff(all).isEmpty && entries.files == all.size && entries.forgotten == all.size - kept.size)
          assert(entries.limit.forall(limit.contains) || limit.isEmpty)
          assert(entries.modified.contains((all.map(_.modified).min, all.map(_.modified).max)))
        }
      }
    }
  }

  test("the entries and the known files of a year take as much as those of a month") {
    val (day, horizon, most) = (Duration.ofDays(1).toMillis, Duration.ofDays(7), 1000)
    val random               = new Random(1)
    val log                  = new MemorySideLog
    val entries              = new SeenEntries(log)
    val known                = new KnownFiles
    val limits               = LateLimit(Some(horizon), most)
    var limit                = Option.empty[Long]
    val taken                = (1 to 365).map { today =>
      (1 to 5).foreach { _ =>
        val now   = today * day + random.nextInt(day.toInt)
        val added = Seq.fill(1 + random.nextInt(100))(file(random.nextInt(), now - random.nextInt(day.toInt)))
        added.foreach(known.add)
        limit = limits.after(limit, known.size, added.map(_.modified).max, None, Instant.ofEpochMilli(now))
        limit.foreach(known.forget)
        assert(entries.add(added, limit))
      }
      val keys = log.keys("seen-")
      assert(keys.size <= 64)
      (keys.flatMap(log.get).map(_.size).sum, known.bytes)
    }
    val (month, year) = taken.drop(7).splitAt(30)
    assert(year.map(_._1).max <= 2 * month.map(_._1).max && year.map(_._2).max <= 2 * month.map(_._2).max)
    // Most files are forgotten.
    assert(entries.files > 50000 && known.size < 5000 && new SeenEntries(log).forgotten > 40000)
  }

  test("a missing entry is an error") {
    val log     = new MemorySideLog
    val entries = new SeenEntries(log)
    Seq(100, 20, 4).foreach(size => assert(entries.add((1 to size).map(file(_, 10)), None)))
    assert(log.keys("seen-").size == 3)
    log.remove(log.keys("seen-")(1))
    assert(intercept[SpliceException](new SeenEntries(log)).getMessage.contains("the first file is not number 100"))
  }

  test("a driver that is killed before it removes replaced entries leaves entries that count once") {
    val log      = new MemorySideLog
    val noRemove = new SideLog {
      override def get(key: String): Option[Seq[String]]                         = log.get(key)
      override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = log.getOrCreate(key)(decide)
      override def keys(prefix: String): Seq[String]                             = log.keys(prefix)
      override def remove(key: String): Unit                       = throw new IllegalStateException("killed")
      override def scope(name: String): SideLog                    = log.scope(name)
      override def folder(name: String): org.apache.hadoop.fs.Path = log.folder(name)
    }
    val first = (1 to 3).map(file(_, 10))
    val next  = (4 to 6).map(file(_, 20))
    assert(new SeenEntries(log).add(first, None))
    assert(new SeenEntries(noRemove).add(next, Some(5L)))
    assert(log.keys("seen-").size == 2)
    val later = new SeenEntries(log)
    assert(later.files == 6 && files(later) == first ++ next && later.limit.contains(5L))
  }
}
