// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Duration, Instant}

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.watch.KnownFiles.{Changed, New, Same}

/** Tests of the known files of a watched folder and of their limit. */
final class KnownFilesSuite extends AnyFunSuite {

  test("files are compared as a map of all paths does, and forgotten files are new") {
    (1 to 200).foreach { seed =>
      val random = new Random(seed)
      val known  = new KnownFiles
      val model  = mutable.Map.empty[String, (Long, Long)]
      (1 to 300).foreach { _ =>
        val path           = s"/lake/${random.nextInt(80)}"
        val (time, length) = (random.nextInt(50).toLong, random.nextInt(2).toLong)
        val file           = SeenFile(path, time, length)
        val expected       = model.get(path) match {
          case None                     => New
          case Some((`time`, `length`)) => Same
          case Some((before, old))      => Changed(before, old)
        }
        assert(known.compare(file) == expected && known.contains(path) == model.contains(path), s"seed $seed")
        known.add(file)
        model(path) = (time, length)
        if (random.nextInt(60) == 0) {
          val limit = random.nextInt(50).toLong
          assert(known.forget(limit) == model.count(_._2._1 < limit))
          model.filterInPlace((_, file) => file._1 >= limit)
        }
        assert(known.size == model.size)
      }
      model.foreach { case (path, (time, length)) => assert(known.compare(SeenFile(path, time, length)) == Same) }
    }
  }

  test("a known file takes at most 48 bytes") {
    val known = new KnownFiles
    (1 to 100000).foreach { n =>
      known.add(SeenFile(n.toLong << 20, n.toLong << 1 | 1, n.toLong, 1))
      if (n > 1000) assert(known.bytes <= n * 48L)
    }
    assert(known.forget(90001) == 90000 && known.bytes <= 10000 * 48L)
  }

  test("the limit is a time before the newest file, it never falls, and files of the future do not raise it") {
    val now   = Instant.parse("2026-11-01T00:00:00Z").toEpochMilli
    val week  = Duration.ofDays(7).toMillis
    val limit = LateLimit(Some(Duration.ofDays(7)), 10)
    def after(before: Option[Long], newest: Long, known: Int = 11, pending: Option[Long] = None) =
      limit.after(before, known, newest, pending, Instant.ofEpochMilli(now))
    assert(after(None, now, known = 10).isEmpty)
    assert(after(None, now).contains(now - week))
    assert(after(Some(now), now).contains(now))
    assert(after(Some(now), now, known = 3).contains(now))
    assert(after(None, now, pending = Some(7L)).contains(7L) && after(Some(9L), now, pending = Some(7L)).contains(9L))
    val future = Instant.parse("2099-01-01T00:00:00Z").toEpochMilli
    assert(after(None, future).contains(now + Duration.ofMinutes(5).toMillis - week))
    assert(LateLimit(None, 10).after(None, 11, now, None, Instant.ofEpochMilli(now)).isEmpty)
  }
}
