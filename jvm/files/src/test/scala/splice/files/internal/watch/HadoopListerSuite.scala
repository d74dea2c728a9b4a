// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.io.{FileNotFoundException, IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}
import java.time.{Clock, Instant}

import scala.util.{Random, Try}

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.split.{FileSchemas, ListedFile}
import splice.files.storage.CountingFileSystem
import splice.files.{FileSource, LocalSpark, SourceRead}
import splice.source.ReadMode
import splice.source.errors.SpliceException
import splice.source.internal.PinnedSession
import splice.source.runtime.SessionSettings

/** Tests of the listings of a watched folder, compared with the list of the files that exist. */
final class HadoopListerSuite extends AnyFunSuite with LocalSpark {

  private def write(path: String, content: String = "1", modified: Option[String] = None): Path = {
    val file = Paths.get(at(path))
    Files.createDirectories(file.getParent)
    Files.writeString(file, content)
    modified.foreach(time => Files.setLastModifiedTime(file, FileTime.from(Instant.parse(time))))
    file
  }

  private def source(options: (String, String)*): FileSource =
    SourceRead.source(Seq("format" -> "text", "discovery" -> "watch", "schema" -> "value STRING") ++ options: _*)

  private def lister(source: FileSource, stored: Option[FileSchemas] = None): HadoopLister =
    new HadoopLister(
      source.settings,
      source.settings.watch.get,
      new PinnedSession(SessionSettings.current),
      Clock.systemUTC(),
      stored
    )(source.columns)

  private def list(
      lister: HadoopLister,
      known: KnownFiles = new KnownFiles,
      limit: Option[Long] = None,
      isFull: Boolean = true
  ): FolderListing = {
    val found = lister.list(known, limit, isFull)
    found.files.foreach(file => known.add(SeenFile(file.path, file.modified, file.size)))
    found
  }

  private def text(files: Seq[ListedFile], columns: StructType): Seq[String] =
    files.map(file => s"${file.path} ${file.size} ${file.modified} ${file.splittable} ${file.values.toSeq(columns)}")

  /** The list of the files that exist now, without a watch. */
  private def once(options: Seq[(String, String)]): Seq[String] = {
    val listing = SourceRead.source(Seq("format" -> "text", "schema" -> "value STRING", "onEmpty" -> "warn") ++
      options: _*).listing(ReadMode.Stream)
    text(listing.files, listing.schemas.partition)
  }

  private val names =
    Seq("a", "b.txt", "ü", "a b", "50%", "x=y", "c.gz", ".hidden", "_hidden", "_k=1", "d._COPYING_", "+", "#1")

  /** A random tree of one kind of folders, so that Spark accepts its partition columns. */
  private def tree(random: Random, root: String): Unit = {
    val kind                       = random.nextInt(4)
    def fill(folder: String): Unit = (0 to random.nextInt(4)).foreach { _ =>
      val name = names(random.nextInt(names.size))
      val day  = 1 + random.nextInt(9)
      if (!Files.isDirectory(Paths.get(at(s"$folder/$name"))))
        write(s"$folder/$name", "1" * random.nextInt(3), Some(s"2026-01-0${day}T00:00:00Z"))
    }
    Files.createDirectories(Paths.get(at(root)))
    if (kind != 1) fill(root)
    (0 to random.nextInt(4)).foreach { i =>
      kind match {
        case 0 => fill(s"$root/plain $i/deep")
        case 1 => fill(s"$root/k=${if (random.nextBoolean()) i.toString else s"v$i"}")
        case 2 => fill(s"$root/day=2026-01-0${i + 1}/hour=$i")
        case _ => fill(s"$root/_temporary/$i")
      }
    }
    if (random.nextInt(6) == 0) fill(s"$root/.hidden-folder/x")
  }

  test("a listing has the files and values of a list of the same tree, with all options of the listing") {
    val options = Seq(
      Nil,
      Nil,
      Seq("recursiveFileLookup" -> "true"),
      Seq("pathGlobFilter"      -> "*b*"),
      Seq("modifiedAfter"       -> "2026-01-03T00:00:00"),
      Seq("modifiedBefore"      -> "2026-01-05T00:00:00", "orderBy" -> "path")
    )
    (1 to 150).foreach { seed =>
      val random = new Random(seed)
      val root   = s"tree-$seed"
      tree(random, root)
      val path    = if (random.nextInt(5) == 0) s"$root*" else root
      val all     = options(random.nextInt(options.size)) :+ ("path" -> at(path))
      val watched = lister(source(all: _*))
      val found   = list(watched)
      val columns = watched.schemas.fold(new StructType())(_.partition)
      assert(text(found.files, columns) == once(all), s"seed $seed")
      assert(found.listed == found.files.size)
    }
  }

  test("files that arrive in any order add up to the list, and each file is found once") {
    (1 to 40).foreach { seed =>
      val random  = new Random(seed)
      val root    = s"grows-$seed"
      val path    = Seq("path" -> at(root))
      val watched = lister(source(path: _*))
      val known   = new KnownFiles
      def day()   =
        s"$root/day=2026-01-0${1 + random.nextInt(5)}/${names(random.nextInt(names.size))}-${random.nextInt()}"
      write(s"$root/day=2026-01-01/first")
      val found = (1 to 6).flatMap { _ =>
        (0 to random.nextInt(3)).foreach(_ => write(day()))
        list(watched, known).files
      }
      val columns = watched.schemas.get.partition
      assert(text(found, columns).sorted == once(path).sorted && found.map(_.path).distinct.size == found.size)
    }
  }

  test("a listing sends one request for each folder, also if its folders have many known files") {
    (1 to 5).foreach(i => (1 to 20).foreach(f => write(s"calls/k=$i/f$f")))
    val watched =
      lister(source("path" -> s"counting://${at("calls")}", "fs.counting.impl" -> classOf[CountingFileSystem].getName))
    val known             = new KnownFiles
    val _                 = list(watched, known)
    val (found, requests) = CountingFileSystem.during(at("calls"))(list(watched, known))
    assert(found.files.isEmpty && found.listed == 100)
    // The local file system requests the status of each file for a list of its folder.
    val lists = requests.filter(_._1 == "list")
    assert(lists.size == 6 && lists.distinct.size == 6)
  }

  test("a listing that fails in one folder has no files, and a folder that disappears is no failure") {
    Seq("1", "2").foreach(k => write(s"part/k=$k/a"))
    val path    = Seq("path" -> s"counting://${at("part")}", "fs.counting.impl" -> classOf[CountingFileSystem].getName)
    val watched = lister(source(path: _*))
    val known   = new KnownFiles
    def listing(e: Exception) = CountingFileSystem.failing(at("part/k=2"), e)(list(watched, known))
    val error                 = intercept[SpliceException](listing(new IOException("the disk is on fire")))
    assert(error.getCondition == "SPLICE_FILES.LISTING_FAILED" && error.getMessage.contains("part/k=2"))
    assert(known.size == 0 && listing(new FileNotFoundException("gone")).files.size == 1)
    assert(list(watched, known).files.size == 1)
  }

  test("an interrupt of a request is no failed listing, and a request that ends at its time limit is one") {
    write("interrupted/a")
    val path =
      Seq("path" -> s"counting://${at("interrupted")}", "fs.counting.impl" -> classOf[CountingFileSystem].getName)
    val watched               = lister(source(path: _*))
    def listing(e: Exception) = CountingFileSystem.failing(at("interrupted"), e)(Try(list(watched)).failed.get)
    Seq(new InterruptedIOException("closed"), new ClosedByInterruptException).foreach(e => assert(listing(e) eq e))
    val error = listing(new SocketTimeoutException("no response"))
    assert(error.asInstanceOf[SpliceException].getCondition == "SPLICE_FILES.LISTING_FAILED")
  }

  test("files of paths within other paths are listed once, and other files of their folders are not") {
    Seq("nested/a", "nested/sub/b", "nested/sub/c", "nested/other/d").foreach(write(_))
    def paths(names: String*) = names.map(name => s"\"${at(name)}\"").mkString("[", ",", "]")
    Seq(Seq("nested", "nested/sub"), Seq("nested", "nested/sub/b"), Seq("nested/sub/b", "nested/sub/c")).foreach {
      all =>
        val options = Seq("paths" -> paths(all: _*))
        val found   = list(lister(source(options: _*)))
        assert(text(found.files, new StructType()) == once(options), all)
        assert(found.listed == found.files.size, all)
    }
  }

  test("files in folders that are not selected are not old files of the source") {
    write("unselected/a")
    write("unselected/archive/b", modified = Some("2020-01-01T00:00:00Z"))
    val listing = list(lister(source("path" -> at("unselected"))), limit = Some(1L << 40))
    assert(listing.old == 0 && listing.listed == 1)
  }

  test("an inferred schema of CSV files keeps the columns that are also partition columns") {
    write("csv/day=1/a.csv", "id,day,v\n5,1,x\n")
    val csv     = SourceRead.source("format" -> "csv", "discovery" -> "watch", "header" -> "true", "path" -> at("csv"))
    val watched = lister(csv)
    val _       = list(watched)
    assert(watched.schemas.exists(_.data.fieldNames.toSeq == Seq("id", "day", "v")))
  }

  test("a file that the options exclude does not fix the partition columns") {
    write("excluded/top.tmp")
    val watched = lister(source("path" -> at("excluded"), "pathGlobFilter" -> "*.txt"))
    assert(list(watched).files.isEmpty && watched.schemas.isEmpty)
    write("excluded/k=1/a.txt")
    assert(list(watched).files.size == 1 && watched.schemas.exists(_.partition.fieldNames.toSeq == Seq("k")))
  }

  test("a folder that becomes a table while it is watched is rejected") {
    write("becomes/a")
    val watched = lister(source("path" -> at("becomes")))
    val _       = list(watched)
    Files.createDirectories(Paths.get(at("becomes/_delta_log")))
    assert(intercept[SpliceException](list(watched)).getCondition == "SPLICE_FILES_OPTION.TABLE_FORMAT_NOT_SUPPORTED")
  }

  test("a folder whose value has another type is an error that names the folder") {
    write("types/k=1/a")
    val watched = lister(source("path" -> at("types")))
    val known   = new KnownFiles
    assert(list(watched, known).files.size == 1)
    write("types/k=x/b")
    val error = intercept[SpliceException](list(watched, known))
    assert(error.getCondition == "SPLICE_FILES_DATA.INVALID_PARTITION" && error.getMessage.contains("types/k=x"))
  }

  test("a folder with other partition columns is an error, and a file outside of all partition folders is ignored") {
    write("other/k=1/a")
    val watched = lister(source("path" -> at("other")))
    val known   = new KnownFiles
    val _       = list(watched, known)
    write("other/top")
    assert(list(watched, known).ignored.exists { case (files, path) => files == 1 && path.endsWith("/other/top") })
    write("other/k=2/h=3/b")
    assert(intercept[SpliceException](list(watched, known)).getMessage.contains("other/k=2/h=3"))
  }

  test("minFileAge leaves young files to a later listing") {
    write("young/old", modified = Some("2026-01-01T00:00:00Z"))
    write("young/new")
    val future = write("young/future", modified = Some("2099-01-01T00:00:00Z"))
    val found  = list(lister(source("path" -> at("young"), "minFileAge" -> "1h")))
    assert(found.files.map(_.path.split('/').last) == Seq("old") && found.young == 2)
    assert(found.ahead.contains(1 -> s"file://$future"))
    assert(list(lister(source("path" -> at("young")))).files.size == 3)
  }

  test("partitionOrder visits folders with at least the greatest value, and all folders at a full listing") {
    Seq("9", "10", "11").foreach(day => write(s"order/day=$day/a"))
    val watched = lister(source("path" -> at("order"), "partitionOrder" -> "day"))
    val known   = new KnownFiles
    assert(list(watched, known).files.size == 3)
    Seq("9", "11", "100").foreach(day => write(s"order/day=$day/b"))
    def found(isFull: Boolean) =
      list(watched, known, isFull = isFull).files.map(_.path.split('/').takeRight(2).mkString("/"))
    assert(found(isFull = false).sorted == Seq("day=100/b", "day=11/b"))
    write("order/day=11/c")
    assert(found(isFull = false).isEmpty)
    assert(found(isFull = true).sorted == Seq("day=11/c", "day=9/b"))
    // A later run knows the greatest value without a new file.
    val later = lister(source("path" -> at("order"), "partitionOrder" -> "day"), watched.schemas)
    assert(list(later, known).files.isEmpty)
    write("order/day=11/d")
    assert(list(later, known, isFull = false).listed == 1)
  }

  test("files before the limit are counted and not compared, and changed files are reported") {
    write("limit/old", modified = Some("2026-01-01T00:00:00Z"))
    val file    = write("limit/new", modified = Some("2026-02-01T00:00:00Z"))
    val watched = lister(source("path" -> at("limit")))
    val known   = new KnownFiles
    val limit   = Some(Instant.parse("2026-01-15T00:00:00Z").toEpochMilli)
    val first   = list(watched, known, limit)
    assert(first.old == 1 && first.listed == 2 && first.files.map(_.path.split('/').last) == Seq("new"))
    Files.writeString(file, "longer")
    val changed = list(watched, known, limit).changed
    assert(changed.map(_.length) == Seq(6) && changed.map(_.before.length) == Seq(1))
  }

  test("a path that disappears is an error, and a pattern without a match is one too") {
    write("gone/a")
    val watched = lister(source("path" -> at("gone")))
    val _       = list(watched)
    Files.delete(Paths.get(at("gone/a")))
    Files.delete(Paths.get(at("gone")))
    assert(Try(list(watched)).failed.get.asInstanceOf[SpliceException].getCondition == "SPLICE_FILES.PATH_NOT_FOUND")
  }

  private def batchOf(options: (String, String)*): Option[Long] = {
    val run = lister(source(options :+ ("endWhen" -> "caughtUp"): _*))
    list(run)
    run.batch
  }

  /** Log of a sink with one batch, and the files of the batch. */
  private def sink(folder: String, names: String*): Unit = {
    val lines = names.map { name =>
      val file = at(s"$folder/$name")
      s"""{"path":"file://$file","size":1,"isDir":false,"modificationTime":1,"blockReplication":1,"blockSize":1,"action":"add"}"""
    }
    val _ = write(s"$folder/_spark_metadata/0", ("v1" +: lines).mkString("\n"))
  }

  test("a folder of a sink that appears after the patterns were resolved is found with the same log") {
    sink("races", "day=1/a", "day=2/b")
    write("races/day=1/a")
    val watched = lister(source("path" -> at("races/day=*")))
    val known   = new KnownFiles
    assert(list(watched, known).files.map(_.path.last) == Seq('a'))
    write("races/day=2/b")
    assert(list(watched, known).files.map(_.path.last) == Seq('b') && list(watched, known).files.isEmpty)
  }

  test("a sink with files that its partition folders exclude has no last batch") {
    sink("mixed-sink", "day=1/a", "b")
    Seq("day=1/a", "b").foreach(name => write(s"mixed-sink/$name"))
    assert(batchOf("path" -> at("mixed-sink")).isEmpty)
    sink("whole-sink", "day=1/a", "day=2/b")
    Seq("day=1/a", "day=2/b").foreach(name => write(s"whole-sink/$name"))
    assert(batchOf("path" -> at("whole-sink")).contains(0L))
  }

  test("a damaged log is an error only if the options select its folder") {
    write("beside/a")
    write("beside/backup/_spark_metadata/0", "v9\n")
    assert(list(lister(source("path" -> at("beside")))).files.size == 1)
    assertThrows[SpliceException](list(lister(source("path" -> at("beside/backup")))))
    assertThrows[SpliceException](list(lister(source("path" -> at("beside"), "recursiveFileLookup" -> "true"))))
  }

  test("known files of a sink are not late, whatever the times in its log") {
    sink("late-sink", "a", "b")
    Seq("a", "b").foreach(name => write(s"late-sink/$name"))
    val known = new KnownFiles
    assert(list(lister(source("path" -> at("late-sink"))), known).files.size == 2)
    val limit = Some(1000L)
    assert(list(lister(source("path" -> at("late-sink"))), known, limit).old == 0)
    assert(list(lister(source("path" -> at("late-sink"))), new KnownFiles, limit).old == 2)
  }

  test("partitionOrder has no value of a folder whose files are young") {
    write("order-young/day=1/a", modified = Some("2026-01-01T00:00:00Z"))
    write("order-young/day=2/b")
    val watched = lister(source("path" -> at("order-young"), "partitionOrder" -> "day", "minFileAge" -> "1h"))
    assert(list(watched).files.size == 1)
    write("order-young/day=1/c", modified = Some("2026-01-01T00:00:00Z"))
    assert(list(watched, isFull = false).files.size == 2)
  }

  test("a known file is not young") {
    write("known-young/a")
    val known = new KnownFiles
    assert(list(lister(source("path" -> at("known-young"))), known).files.size == 1)
    val found = list(lister(source("path" -> at("known-young"), "minFileAge" -> "1h")), known)
    assert(found.young == 0 && found.listed == 1)
  }

  test("new files in the folder of a sink come from its log") {
    val in                  = Files.createDirectories(Paths.get(at("sink-in")))
    def batch(i: Int): Unit = {
      Files.writeString(in.resolve(s"f$i"), s"$i")
      spark.readStream.text(in.toString).writeStream.format("text").option("checkpointLocation", at("sink-log"))
        .trigger(org.apache.spark.sql.streaming.Trigger.AvailableNow()).start(at("sink-out")).awaitTermination()
    }
    val known   = new KnownFiles
    val watched = lister(source("path" -> at("sink-out")))
    val ending  = lister(source("path" -> at("sink-out"), "endWhen" -> "caughtUp"))
    (1 to 12).foreach { i =>
      batch(i)
      write(s"sink-out/part-uncommitted-$i.txt")
      val found = list(watched, known).files
      list(ending, known)
      assert(found.size == 1 && found.forall(!_.path.contains("uncommitted")), s"batch $i")
      assert(ending.batch.contains(i - 1L) && watched.batch.isEmpty)
      val unchanged = list(ending, known)
      assert(unchanged.files.isEmpty && unchanged.listed == i && ending.batch.contains(i - 1L))
    }
    assert(batchOf("path" -> at("sink-out")).contains(11L))
    // The rows of the other files would be lost, or the other sink has batches of its own.
    assert(batchOf("path" -> at("sink-out"), "modifiedAfter" -> "2099-01-01T00:00:00").isEmpty)
    // Files of a sink are complete.
    assert(batchOf("path" -> at("sink-out"), "minFileAge" -> "1h").contains(11L))
    write("sink-other/_spark_metadata/0", "v1\n")
    assert(batchOf("paths" -> s"""["${at("sink-out")}","${at("sink-other")}"]""").isEmpty)
    assert(once(Seq("path" -> at("sink-out"))).size == 12 && known.size == 12)
  }
}
