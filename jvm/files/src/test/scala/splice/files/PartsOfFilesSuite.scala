// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.nio.file.{Files, Paths}
import java.util.zip.GZIPOutputStream

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.util.{Random, Using}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.enumerator.{FileList, FileListEntries, FilesPosition}
import splice.files.internal.split.{BlockId, FileGrid}
import splice.source.log.Coverage
import splice.source.{Limits, SplitRange, StartPosition}

/** Tests of files that several batches read. Each row is in exactly one batch, with any limits and across restarts. */
final class PartsOfFilesSuite extends AnyFunSuite with RandomFiles {

  private def values(read: SourceRead, from: FilesPosition, until: FilesPosition): Seq[String] =
    values(read, read.enumerator.splits(from, until))

  private def values(read: SourceRead, ranges: Seq[SplitRange]): Seq[String] =
    if (ranges.isEmpty) Nil
    else SourceRead.here(read.enumerator.readers(value, ranges), ranges)(_.getUTF8String(0).toString)

  /** Reads all files with random restarts, and compares the rows with the files. Returns all positions. */
  private def live(world: World, random: Random)(next: (SourceRead, FileList, FilesPosition) => FilesPosition)
      : Seq[FilesPosition] = {
    val log                 = new MemorySideLog
    def start(): SourceRead = new SourceRead(source(world, 20L + random.nextInt(80)), log)

    @tailrec def batches(read: SourceRead, list: FileList, done: Vector[FilesPosition], out: Vector[Seq[String]])
        : (Vector[FilesPosition], Vector[Seq[String]]) = {
      val from  = done.last
      val until = next(read, list, from)
      if (until == from) (done, out)
      else {
        assert(from.precedes(until) && !until.precedes(from) && list.contains(until))
        val batch = values(read, from, until)
        val again = if (random.nextInt(3) == 0) start() else read
        assert(values(again, from, again.source.position(until.json)) == batch)
        batches(again, list, done :+ until, out :+ batch)
      }
    }

    val read        = start()
    val first       = read.enumerator.start(StartPosition.Configured)
    val (done, out) = batches(read, new FileListEntries(log).read(), Vector(first), Vector.empty)
    done.foreach(at => assert(read.enumerator.evidence(at).isDefined == (at == done.last)))
    assert(out.flatten.sorted == world.values.sorted)
    (1 to 5).foreach { _ =>
      val (one, other) = (random.nextInt(done.size), random.nextInt(done.size))
      val (a, b)       = (math.min(one, other), math.max(one, other))
      assert(values(read, done(a), done(b)).sorted == out.slice(a, b).flatten.sorted)
    }
    (1 to 3).foreach(_ => checkRemaining(read, done, random, world.values))
    done
  }

  /** Covers some ranges, and compares their rows and the remaining rows with all rows. */
  private def checkRemaining(read: SourceRead, done: Seq[FilesPosition], random: Random, all: Seq[String]): Unit = {
    val batches = done.zip(done.drop(1)).flatMap { case (from, until) => read.enumerator.splits(from, until) }
    val some    = batches.filter(_ => random.nextInt(3) > 0)
    val covered = new Coverage
    some.flatMap(_.extents).foreach { extent =>
      assert(!covered.overlaps(extent))
      covered.add(extent)
    }
    val rest = read.enumerator.remaining(done.last, covered)
    assert((values(read, some) ++ values(read, rest)).sorted == all.sorted)
    rest.flatMap(_.extents).foreach(extent => assert(!covered.overlaps(extent)))
    if (some.size == batches.size) assert(values(read, rest).isEmpty)
  }

  private def limits(random: Random): Limits = random.nextInt(10) match {
    case 0 => Limits.Everything
    case 1 => Limits.Limited(files = Some(1 + random.nextInt(3)))
    case 2 => Limits.Limited(files = Some(1 + random.nextInt(3)), bytes = Some(1L + random.nextInt(200)))
    case _ => Limits.Limited(bytes = Some(1L + random.nextInt(200)))
  }

  /** Returns a random later position with partly read blocks. */
  private def anyAfter(random: Random, list: FileList, at: FilesPosition): FilesPosition =
    if (at == list.end) at
    else {
      val files = math.min(list.files.size, at.files + random.nextInt(3))
      val begun = (at.files until files).flatMap { n =>
        new FileGrid(n, list.files(n), list.packing.maxPartitionBytes).blocks.map(_ -> 0L)
      }
      val partly = (at.partly.toSeq ++ begun).collect {
        case (id, rows) if random.nextInt(3) > 0 =>
          id -> (rows + (if (random.nextBoolean()) 0L else random.nextInt(6).toLong))
      }
      val next = FilesPosition(files, SortedMap.from(partly))
      if (next == at) anyAfter(random, list, at) else next
    }

  private def lives(format: String, seeds: Int)(next: (Random, SourceRead, FileList, FilesPosition) => FilesPosition)
      : Seq[FilesPosition] = (1 to seeds).flatMap { seed =>
    val random = new Random(seed)
    withClue(s"seed $seed: ")(live(world(format, random), random)(next(random, _, _, _)))
  }

  Seq("text" -> 10, "csv" -> 10, "json" -> 10, "parquet" -> 3).foreach { case (format, seeds) =>
    test(s"$format: each row is in one batch, with random limits and restarts") {
      val positions = lives(format, seeds)((random, read, _, from) => read.enumerator.advance(from, limits(random)))
      assert(positions.count(_.partly.nonEmpty) > seeds)
    }

    test(s"$format: each row is in one batch, with batches that end within blocks") {
      val positions = lives(format, seeds)((random, _, list, from) => anyAfter(random, list, from))
      assert(positions.count(_.partly.valuesIterator.exists(_ > 0)) > seeds)
    }
  }

  private def text(row: InternalRow, columns: StructType): String =
    columns.indices.map(i => String.valueOf(row.get(i, columns(i).dataType))).mkString("|")

  private def at(rows: Long): FilesPosition = FilesPosition(1, SortedMap(BlockId(0, 0L) -> rows))

  /** Compares the rows of a file before and after a row with all rows. */
  private def checkSpans(read: SourceRead, columns: StructType, counts: Seq[Int]): Unit = {
    val start = read.enumerator.start(StartPosition.Configured)
    val end   = FilesPosition(1)
    def rows(from: FilesPosition, until: FilesPosition): (Seq[String], Boolean) = {
      val ranges  = read.enumerator.splits(from, until)
      val readers = read.enumerator.readers(columns, ranges)
      (SourceRead.here(readers, ranges)(text(_, columns)), readers.columnar)
    }
    val (all, columnar) = rows(start, end)
    counts.foreach { n =>
      assert(rows(start, at(n.toLong)) == ((all.take(n), false)))
      assert(rows(at(n.toLong), end) == ((all.drop(n), false)))
      assert(rows(at(n.toLong), at(n + 10L)) == ((all.slice(n, n + 10), false)))
    }
    assert(columnar == read.source.settings.kind.vectorized)
  }

  test("parquet: row numbers continue over row groups and column batches") {
    val path = at("spans-parquet")
    spark.range(0, 10000, 1, 1).selectExpr("id", "concat('n', id) AS name").write
      .option("parquet.block.size", "20000").parquet(path)
    val read    = SourceRead("format" -> "parquet", "path" -> path)
    val columns = StructType(Seq("name", "_file_path", "id").map { name =>
      (read.source.schema ++ read.source.metadataColumns).find(_.name == name).get
    })
    checkSpans(read, columns, Seq(1, 4095, 4096, 5000, 9999, 10000, 20000))
  }

  test("csv: row numbers begin after the header") {
    val path = at("spans.csv")
    Files.writeString(Paths.get(path), (0 until 100).map(i => s"$i,n$i").mkString("id,name\n", "\n", "\n"))
    val read = SourceRead("format" -> "csv", "path" -> path, "header" -> "true", "schema" -> "id INT, name STRING")
    checkSpans(read, read.source.schema, Seq(1, 37, 99, 100, 200))
  }

  test("a large file that is not splittable is read by one task of one batch") {
    val random = new Random(7)
    val file   = Paths.get(at("large.csv.gz"))
    Using.resource(new GZIPOutputStream(Files.newOutputStream(file))) { out =>
      (0 until 300000).foreach(i => out.write(s"$i,${random.nextLong()}\n".getBytes))
    }
    assert(Files.size(file) > (2L << 20))
    val read = SourceRead(
      "format"             -> "csv",
      "path"               -> file.toString,
      "schema"             -> "id INT, number BIGINT",
      "maxPartitionBytes"  -> "64k",
      "maxBytesPerTrigger" -> "100k"
    )
    assert(read.positions.map(_.json) == Seq("""{"files":0,"v":1}""", """{"files":1,"v":1}"""))
    val ranges = read.allRanges
    val ids    = SourceRead.here(read.enumerator.readers(StructType.fromDDL("id INT"), ranges), ranges)(_.getInt(0))
    assert(ranges.size == 1 && ids == (0 until 300000))
  }
}
