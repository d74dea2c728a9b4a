// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.file.{Files, Path}

import scala.annotation.tailrec
import scala.util.{Random, Using}

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.enumerator.{FileList, FilesPosition}
import splice.files.internal.split.{FileRange, FileSchemas, ListedFile, Packing}
import splice.source.runtime.OpenEnded
import splice.source.{Limits, Poll, SplitRange, SplitReaderFactory, StartPosition, TaskRanges}

/** Tests of real-time batches, which may end after any row. */
final class TimedBatchesSuite extends AnyFunSuite with RandomFiles {

  private def open(read: SourceRead): OpenEnded[FilesPosition] = read.enumerator match {
    case enumerator: OpenEnded[FilesPosition @unchecked] => enumerator
    case other                                           => fail(s"$other does not support real-time batches")
  }

  /** Serialises the unread ranges, as Spark does. */
  private def sent(unread: Seq[SplitRange]): Seq[SplitRange] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new ObjectOutputStream(bytes))(_.writeObject(unread))
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[Seq[SplitRange]]
  }

  /** Returns the first rows of a task and its unread ranges. */
  private def part(readers: SplitReaderFactory, ranges: Seq[SplitRange], rows: Int): (Seq[String], Seq[SplitRange]) =
    Using.resource(readers.rows(TaskRanges(None, ranges.toIndexedSeq))) { reader =>
      // One more poll than the number of rows detects the end.
      val found = Iterator.fill(rows)(reader.poll(Poll.Forever)).takeWhile(_ == Poll.Found)
        .map(_ => reader.get().getUTF8String(0).toString).toVector
      (found, sent(reader.unread))
    }

  /** Runs a batch whose tasks read a number of rows each. */
  private def batch(read: SourceRead, from: FilesPosition, tasks: Int)(rows: Int => Int)
      : (FilesPosition, Seq[String]) = {
    val settled = open(read).settle(from)
    val ranges  = open(read).open(settled)
    val readers = read.enumerator.readers(value, ranges)
    val parts   = (0 until tasks).map { task =>
      part(readers, ranges.indices.filter(_ % tasks == task).map(ranges), rows(task))
    }
    (open(read).reached(settled, parts.flatMap(_._2)), parts.flatMap(_._1))
  }

  private def rest(read: SourceRead, from: FilesPosition, limits: Limits): (FilesPosition, Seq[String]) = {
    val until  = read.enumerator.advance(from, limits)
    val ranges = read.enumerator.splits(from, until)
    (until, SourceRead.here(read.enumerator.readers(value, ranges), ranges)(_.getUTF8String(0).toString))
  }

  /** Reads all files in batches of both kinds, with random restarts. */
  private def live(world: World, random: Random): Seq[FilesPosition] = {
    val log                 = new MemorySideLog
    def start(): SourceRead = new SourceRead(source(world, 20L + random.nextInt(80)), log)
    def isTimed             = random.nextInt(4) > 0
    @tailrec def batches(read: SourceRead, done: Vector[FilesPosition], out: Vector[String])
        : (Vector[FilesPosition], Vector[String]) =
      if (read.enumerator.evidence(done.last).nonEmpty) (done, out)
      else {
        val from          = read.source.position(done.last.json)
        val (until, rows) =
          if (isTimed) batch(read, from, 1 + random.nextInt(3))(_ => random.nextInt(40))
          else rest(read, from, Limits.Limited(bytes = Some(1L + random.nextInt(200))))
        assert(from.precedes(until) && (rows.isEmpty || !until.precedes(from)))
        batches(if (random.nextInt(3) == 0) start() else read, done :+ until, out ++ rows)
      }
    val read        = start()
    val (done, out) = batches(read, Vector(read.enumerator.start(StartPosition.Configured)), Vector.empty)
    assert(out.sorted == world.values.sorted)
    // One batch between any two positions has the same rows.
    (1 to 3).foreach { _ =>
      val (x, y) = (random.nextInt(done.size), random.nextInt(done.size))
      val (a, b) = (math.min(x, y), math.max(x, y))
      val spans  = Seq(done.head -> done(a), done(a) -> done(b), done(b) -> done.last)
      val ranges = spans.map { case (from, until) => read.enumerator.splits(from, until) }
      val rows   = ranges.filter(_.nonEmpty).flatMap { own =>
        SourceRead.here(read.enumerator.readers(value, own), own)(_.getUTF8String(0).toString)
      }
      assert(rows.sorted == world.values.sorted)
    }
    done
  }

  Seq("text" -> 10, "csv" -> 10, "json" -> 10, "parquet" -> 2).foreach { case (format, seeds) =>
    test(
      s"$format: each row is in one batch, for any end of real-time batches and with batches of other triggers between them"
    ) {
      val cuts = LazyList.range(1, 50).map { seed =>
        val random    = new Random(seed)
        val positions = withClue(s"seed $seed: ")(live(world(format, random), random))
        positions.count(_.partly.valuesIterator.exists(_ > 0))
      }
      // File names and their order do not depend on the seed. Further seeds are run until a batch ends within a
      // block.
      assert(cuts.take(seeds).sum > 0 || cuts.exists(_ > 0))
    }
  }

  Seq("parquet", "orc").foreach { format =>
    test(s"$format: another trigger continues a batch that ended after any row, with column batches before") {
      import spark.implicits._
      val path   = at(s"each-$format")
      val values = (0 until 23).map(i => s"v$i")
      spark.createDataset(values).coalesce(1).write.format(format).save(path)
      val read  = SourceRead("format" -> format, "path" -> path)
      val start = read.enumerator.start(StartPosition.Configured)
      assert(SourceRead.here(read.enumerator.readers(value, read.allRanges), read.allRanges)(
        _.getUTF8String(0).toString
      ) == values)
      (0 to values.size + 1).foreach { n =>
        val (until, first) = batch(read, start, 1)(_ => n)
        assert(first == values.take(n))
        val expected =
          if (n == 0) """{"files":0,"v":1}"""
          else if (n > values.size) """{"files":1,"v":1}"""
          else s"""{"files":1,"partly":{"0:0":$n},"v":1}"""
        assert(until.json == expected)
        if (n <= values.size) assert(rest(read, until, Limits.Everything)._2 == values.drop(n))
        if (n > 0 && n <= values.size) assert(batch(read, until, 1)(_ => 100)._2 == values.drop(n))
      }
    }
  }

  test("unread files are not in the position, and the ranges of a task that never began stay unread") {
    val path = Files.createDirectories(Path.of(at("three")))
    (0 until 3).foreach(n => Files.writeString(path.resolve(s"$n.txt"), s"a$n\nb$n\n"))
    val read              = SourceRead("format" -> "text", "path" -> path.toString, "orderBy" -> "path")
    val start             = read.enumerator.start(StartPosition.Configured)
    def after(rows: Int*) = {
      val (until, _) = batch(read, start, rows.size)(rows)
      until.json
    }
    assert(after(0) == """{"files":0,"v":1}""")
    assert(after(1) == """{"files":1,"partly":{"0:0":1},"v":1}""")
    assert(after(3) == """{"files":2,"partly":{"1:0":1},"v":1}""")
    assert(after(7) == """{"files":3,"v":1}""")
    assert(after(0, 1) == """{"files":2,"partly":{"0:0":0,"1:0":1},"v":1}""")
    val end = open(read).reached(start, Nil)
    assert(end == FilesPosition(3) && open(read).open(end).isEmpty && open(read).reached(end, Nil) == end)
  }

  private def files(sizes: Long*) = new FileList(
    FileSchemas.empty,
    Packing(10L, 1L, 1),
    sizes.zipWithIndex.map { case (size, n) => ListedFile(s"file:/$n", size, 0L, splittable = true, InternalRow.empty) }
      .toIndexedSeq
  )

  test("a batch has at least one file, and its blocks fit into a position") {
    val small = files(Seq.fill(2500)(10L): _*)
    val open  = small.open(FilesPosition.Start)
    assert(open.size == 1000 && open.map(_.splitId) == (0 until 1000).map(n => s"$n:0"))
    assert(small.reached(FilesPosition.Start, open.flatMap(_.blocks)) == FilesPosition.Start)
    assert(small.reached(FilesPosition.Start, Nil) == FilesPosition(1000))
    // The next batch reads the unread blocks before other files.
    val large = files(100000L, 10L, 30000L)
    val next  = large.reached(FilesPosition.Start, large.open(FilesPosition.Start).drop(1).flatMap(_.blocks))
    assert(next.files == 1 && next.partly.size == large.open(FilesPosition.Start).size - 1)
    assert(large.open(next).map(_.splitId) == large.open(FilesPosition.Start).drop(1).map(_.splitId))
    assert(large.open(next).forall(range => range.blocks.forall(_.length > 0) && !range.isOpen))
  }

  test("each block is one range, and its row numbers begin at its start") {
    val list  = files(35L)
    val from  = list.reached(FilesPosition.Start, list.open(FilesPosition.Start).slice(1, 3).flatMap(_.blocks))
    val spans = list.open(from).collect { case range: FileRange => range.blocks.toSeq.map(b => (b.start, b.length)) }
    assert(from.json == """{"files":1,"partly":{"0:10":0,"0:20":0},"v":1}""")
    assert(spans == Seq(Seq(10L -> 10L), Seq(20L -> 10L)))
  }
}
