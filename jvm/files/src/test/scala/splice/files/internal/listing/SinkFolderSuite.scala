// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.sql.streaming.{DataStreamWriter, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.session.FileFormats
import splice.files.storage.{CountingFileSystem, RootedFileSystem}
import splice.files.{LocalSpark, SourceRead}
import splice.source.errors.SpliceException
import splice.testkit.LoggedMessages

/** Tests of folders of Spark's streaming file sink. The log of the sink defines the files, as in `spark.read`. */
final class SinkFolderSuite extends AnyFunSuite with LocalSpark {

  private val Ignored = "spark.sql.streaming.fileStreamSink.ignoreMetadata"

  // Each input file is one batch with 10 rows.
  private def stream(name: String, batches: Int, partitions: Seq[String] = Nil): String = {
    (0 until batches).foreach { i =>
      val lines = (i * 10 until i * 10 + 10).map(n => s"""{"id":$n,"k":${n % 2},"p":${n % 3}}""")
      val file  = Paths.get(at(s"inputs/$name/$i.json"))
      Files.createDirectories(file.getParent)
      Files.write(file, lines.asJava)
    }
    val writer = spark.readStream
      .schema("id BIGINT, k BIGINT, p BIGINT")
      .option("maxFilesPerTrigger", "1")
      .json(at(s"inputs/$name"))
      .selectExpr("id", "concat('a b%', k) AS k", "p")
      .writeStream
      .format("parquet")
      .option("checkpointLocation", at(s"checkpoints/$name"))
      .trigger(Trigger.AvailableNow())
    partitioned(writer, partitions).start(at(name)).awaitTermination()
    at(name)
  }

  private def partitioned[A](writer: DataStreamWriter[A], names: Seq[String]) =
    if (names.isEmpty) writer else writer.partitionBy(names: _*)

  private def parts(path: String): Seq[Path] =
    Files.walk(Paths.get(path)).iterator.asScala.filter(_.toString.endsWith(".parquet")).toSeq.sorted

  /** Writes an orphaned file, as a batch does if its tasks run again with new file names. */
  private def orphan(path: String): Unit = {
    val file = parts(path).head
    val _    = Files.copy(file, file.resolveSibling(s"orphan-${file.getFileName}"))
  }

  private def read(options: (String, String)*): SourceRead = SourceRead(Seq("format" -> "parquet") ++ options: _*)

  private def count(options: (String, String)*): Int = read(options: _*).rows().size

  private def failure(options: (String, String)*): SpliceException =
    intercept[SpliceException](read(options: _*).rows())

  // The checksum file is deleted, so that the file system accepts the new content.
  private def rewrite(entry: Path, text: String): Unit = {
    Files.deleteIfExists(entry.resolveSibling(s".${entry.getFileName}.crc"))
    val _ = Files.writeString(entry, text)
  }

  private def withConf[A](key: String, value: String)(body: => A): A = {
    spark.conf.set(key, value)
    try body
    finally spark.conf.unset(key)
  }

  test("files of killed batches are not read, unless the session ignores the log") {
    val path = stream("plain", 3)
    orphan(path)
    assert(spark.read.parquet(path).count() == 30)
    assert(read("path" -> path).rows() == SourceRead.ofSpark(spark.read.parquet(path)))
    assert(count("path" -> path, "schema" -> "id BIGINT") == 30)
    assert(withConf(Ignored, "true")(count("path" -> path)) == 40)
  }

  test("the log is read after compaction, even if expired entries are deleted") {
    withConf("spark.sql.streaming.fileSink.log.compactInterval", "3") {
      val path = stream("compacted", 8)
      orphan(path)
      val log = Paths.get(path, "_spark_metadata")
      assert(Files.exists(log.resolve("5.compact")) && Files.exists(log.resolve("7")))
      assert(count("path" -> path) == 80)
      assert(read("path" -> path).evidence.lastBatch("any").contains(7L))
      Seq("0", "1", "2.compact", "3", "4").foreach(entry => Files.delete(log.resolve(entry)))
      assert(count("path" -> path) == 80)
    }
  }

  test("the end of the files has the last batch of their only sink") {
    val (one, other)         = (stream("one", 3), stream("other", 2))
    def last(paths: String*) = read("paths" -> paths.mkString("[\"", "\",\"", "\"]")).evidence.lastBatch("any")
    assert(last(one).contains(2L) && last(other).contains(1L))
    assert(last(one, other).isEmpty)
    val filters =
      Seq("pathGlobFilter" -> "nothing*", "modifiedBefore" -> "2020-01-01T00:00:00", "schema" -> "id BIGINT")
    filters.take(2).foreach { filter =>
      assert(read("path" -> one, "onEmpty" -> "warn", filters.last, filter).evidence.lastBatch("any").isEmpty)
    }
    assert(last(parts(one).head.toString).isEmpty)
    assert(withConf(Ignored, "true")(last(one)).isEmpty)
  }

  test("partition columns, a partition folder, a pattern, several paths and a single file are read") {
    val path = stream("parts", 2, Seq("k", "p"))
    val odd  = s"$path/k=a b%251"
    assert(Files.exists(Paths.get(odd)))
    Seq(path, odd).foreach(orphan)
    assert(read("path" -> path).source.schema == spark.read.parquet(path).schema)
    assert(read("path" -> path).rows() == SourceRead.ofSpark(spark.read.parquet(path)))
    assert(count("path" -> odd) == 10)
    assert(count("path" -> odd, "basePath" -> path) == 10)
    assert(count("path" -> s"$path/k=*", "basePath" -> path) == 20)
    assert(count("path" -> s"$path/*/*/*.parquet", "basePath" -> path) == 20)
    assert(count("path" -> path, "recursiveFileLookup" -> "true") == 20)
    assert(count("paths" -> s"""["$odd","$path/k=a b%250"]""", "basePath" -> path) == 20)
    val file = parts(odd).filterNot(_.toString.contains("orphan")).head.toString
    assert(count("path" -> file) == spark.read.parquet(file).count())
    assert(count("path" -> path, "pathGlobFilter" -> "nothing*", "schema" -> "id BIGINT") == 0)
  }

  test("a file of a killed batch is not read even if a path names the file") {
    val path = stream("single", 1, Seq("p"))
    orphan(path)
    val file = parts(path).find(_.toString.contains("orphan")).fold("")(_.toString)
    val own  = parts(path).filterNot(_.toString.contains("orphan")).head.toString
    assert(count("path" -> file, "schema" -> "id BIGINT") == 0)
    val both = "paths" -> s"""["$file","$own"]"""
    Seq(Nil, Seq("basePath" -> path)).foreach { base =>
      val (two, one) = (read(both +: base: _*), read(("path" -> own) +: base: _*))
      assert(two.source.schema == one.source.schema && two.rows() == one.rows())
    }
  }

  test("several sink folders in one recursive read, and a sink folder next to a plain folder, are read") {
    val inner = stream("several/one", 1)
    val _     = stream("several/two", 2)
    orphan(inner)
    spark.range(5).selectExpr("id", "'x' AS k", "id AS p").write.parquet(at("not-a-sink"))
    assert(count("path" -> at("several"), "recursiveFileLookup" -> "true") == 30)
    assert(count("path" -> at("several/*")) == 30)
    assert(count("paths" -> s"""["$inner","${at("not-a-sink")}"]""") == 15)
  }

  test("the log of each folder below a path applies, also if its sink has partition folders") {
    Seq("east", "west").foreach(name => orphan(stream(s"regions/region=$name", 1, Seq("p"))))
    val all = read("path" -> at("regions"))
    assert(all.source.schema.fieldNames.toSeq == Seq("id", "k", "region", "p"))
    assert(all.rows() == read("path" -> at("regions/region=*"), "basePath" -> at("regions")).rows())
    assert(all.rows().size == 20 && withConf(Ignored, "true")(count("path" -> at("regions"))) > 20)
    Files.delete(parts(at("regions")).filterNot(_.toString.contains("orphan")).head)
    val lost = failure("path" -> at("regions"), "schema" -> "id BIGINT")
    assert(lost.getCondition == "SPLICE_FILES.FILE_NOT_FOUND")
  }

  test("the search for logs below a path has at most one request per folder, and ends at a path with a log") {
    def requests(name: String): Seq[String] = {
      val (_, all) = CountingFileSystem.during(at(name))(count("path" -> s"counting://${at(name)}"))
      all.collect { case (_, log) if log.endsWith("/_spark_metadata") => Paths.get(log).getParent.toString }
    }
    spark.range(12).selectExpr("id", "id % 2 AS k", "id % 3 AS p").write.partitionBy("k", "p").parquet(at("plain-tree"))
    val folders = parts(at("plain-tree")).map(_.getParent).flatMap(leaf => Seq(leaf, leaf.getParent)).distinct
    val below   = requests("plain-tree").filter(_ != at("plain-tree"))
    assert(below.toSet == folders.map(_.toString).toSet && folders.size == 8)
    // The schema and the start have one listing each.
    assert(below.size == 2 * folders.size)
    val path = stream("sink-tree", 1, Seq("p"))
    assert(requests("sink-tree").distinct == Seq(path))
  }

  test("the searches of a listing share one instance of the file system, also without Hadoop's cache") {
    val owners  = new FolderOwners(FileFormats.configuration(spark, Map.empty), None, false, identity)
    val folders = (0 until 8).map(n => new HadoopPath(s"counting://${at(s"shared/k=$n")}"))
    val created = CountingFileSystem.instances {
      folders.foreach(owners.rejectTable)
      assert(folders.flatMap(owners.sink).isEmpty && owners.sinksAt(folders).isEmpty)
    }
    assert(created == 1)
  }

  test("a subfolder that is not a partition of the sink is read as a plain folder") {
    val path = stream("outer", 1)
    spark.range(7).write.parquet(s"$path/other")
    assert(count("path" -> s"$path/other") == 7)
    assert(count("path" -> path) == 10)
  }

  test("a base path ends the search for the log") {
    val path = stream("based", 1, Seq("p"))
    orphan(s"$path/p=0")
    assert(count("path" -> s"$path/p=0") == 4)
    assert(count("path" -> s"$path/p=0", "basePath" -> s"$path/p=0") == 8)
  }

  test("a missing committed file fails its task, like any listed file") {
    val path = stream("lost", 2)
    Files.delete(parts(path).head)
    val error = failure("path" -> path, "schema" -> "id BIGINT")
    assert(error.getCondition == "SPLICE_FILES.FILE_NOT_FOUND")
    assert(count("path" -> path, "schema" -> "id BIGINT", "ignoreMissingFiles" -> "true") == 10)
  }

  test("a moved or copied folder is rejected with a remedy") {
    val path = stream("moved", 1)
    Files.move(Paths.get(path), Paths.get(at("moved-away")))
    val error = failure("path" -> at("moved-away"))
    assert(error.getCondition == "SPLICE_FILES_DATA.SINK_FOLDER_MOVED")
    Seq(at("moved-away"), s"$path/part-", Ignored).foreach(words => assert(error.getMessage.contains(words)))
    assert(withConf(Ignored, "true")(count("path" -> at("moved-away"))) == 10)
  }

  test("the log of a sink below a path fails only a query that reads a file of this sink") {
    def below(name: String): String = {
      Files.createDirectories(Paths.get(at(name)).getParent)
      Files.move(Paths.get(stream(s"source-of-$name", 1)), Paths.get(at(name))).toString
    }
    spark.range(3).write.parquet(at("mixed"))
    val log                           = Paths.get(below("mixed/backup"), "_spark_metadata", "0")
    def both(condition: String): Unit = {
      val (rows, all) = LoggedMessages.during("splice.files")(count("path" -> at("mixed")))
      assert(rows == 3 && all.exists(text => text.contains("does not read") && text.contains("mixed/backup/")))
      assert(failure("path" -> at("mixed"), "recursiveFileLookup" -> "true").getCondition == condition)
    }
    both("SPLICE_FILES_DATA.SINK_FOLDER_MOVED")
    rewrite(log, "v2")
    both("SPLICE_FILES_DATA.INVALID_SINK_LOG")
  }

  test("a query with a stored list resumes, also if the log of a sink below its path is moved") {
    Files.createDirectory(Paths.get(at("stored")))
    Files.move(Paths.get(stream("source-of-stored", 1)), Paths.get(at("stored/region=east")))
    val all = Seq("format" -> "parquet", "path" -> at("stored"))
    Seq(Nil, Seq("schema" -> "id BIGINT")).foreach { columns =>
      def source = SourceRead.source(all ++ columns: _*)
      val log    = new MemorySideLog
      assert(withConf(Ignored, "true")(new SourceRead(source, log).rows()).size == 10)
      assert(new SourceRead(source, log).rows().size == 10)
      val error = intercept[SpliceException](new SourceRead(source).rows())
      assert(error.getCondition == "SPLICE_FILES_DATA.SINK_FOLDER_MOVED")
    }
  }

  test("an empty log means that no batch was committed") {
    spark.range(3).write.parquet(at("empty-log"))
    Files.createDirectory(Paths.get(at("empty-log/_spark_metadata")))
    assert(failure("path" -> at("empty-log")).getCondition == "SPLICE_FILES.SCHEMA_NOT_FOUND")
    assert(count("path" -> at("empty-log"), "schema" -> "id BIGINT") == 0)
  }

  test("an incomplete log, a newer version or a missing entry is an error with the entry") {
    val path                  = stream("damaged", 3)
    val log                   = Paths.get(path, "_spark_metadata")
    val whole                 = Files.readString(log.resolve("2"))
    def damage(words: String) = {
      val error = failure("path" -> path)
      assert(error.getCondition == "SPLICE_FILES_DATA.INVALID_SINK_LOG")
      Seq("_spark_metadata/2", words, Ignored).foreach(w => assert(error.getMessage.contains(w)))
      intercept[Exception](spark.read.parquet(path).count())
    }
    Files.writeString(log.resolve("2"), whole.dropRight(20))
    damage("Checksum")
    Seq("" -> "empty", whole.dropRight(20) -> "JSON", whole.replaceFirst("v1", "v2") -> "v2").foreach {
      case (text, words) =>
        rewrite(log.resolve("2"), text)
        damage(words)
    }
    Files.delete(log.resolve("2"))
    Files.delete(log.resolve("0"))
    val error = failure("path" -> path)
    assert(error.getCondition == "SPLICE_FILES_DATA.INVALID_SINK_LOG" && error.getMessage.contains("_spark_metadata/0"))
  }

  test("a file that a later entry deletes is not read") {
    val path = stream("deleted", 2)
    val log  = Paths.get(path, "_spark_metadata")
    val own  = Files.readString(log.resolve("0")).replace("\"add\"", "\"delete\"").linesIterator.toSeq.last
    rewrite(log.resolve("1"), s"${Files.readString(log.resolve("1"))}\n$own")
    assert(count("path" -> path) == 10)
  }

  test("a folder whose name has the sink folder as a prefix is another folder") {
    val path = stream("near-2", 1)
    Files.move(Paths.get(path), Paths.get(at("near")))
    val error = failure("path" -> at("near"))
    assert(error.getCondition == "SPLICE_FILES_DATA.SINK_FOLDER_MOVED" && error.getMessage.contains(s"$path/part-"))
  }

  test("a log line without a path or with an unknown action is an error, and a line of a folder is skipped") {
    val path  = stream("lines", 1)
    val entry = Paths.get(path, "_spark_metadata", "0")
    val text  = Files.readString(entry)
    val last  = text.linesIterator.toSeq.last
    Seq(
      last.replace("\"path\"", "\"place\"")     -> "has no 'path'",
      last.replace("\"isDir\"", "\"isFolder\"") -> "has no 'isDir'",
      last.replace("\"add\"", "\"keep\"")       -> "'keep' is not an action"
    ).foreach { case (line, why) =>
      rewrite(entry, s"$text\n$line")
      val error = failure("path" -> path)
      assert(error.getCondition == "SPLICE_FILES_DATA.INVALID_SINK_LOG")
      Seq("_spark_metadata/0", why).foreach(words => assert(error.getMessage.contains(words)))
    }
    val folder = last.replace("\"isDir\":false", "\"isDir\":true").replaceFirst("part-[^\"]*", "folder")
    rewrite(entry, s"$text\n$folder")
    assert(count("path" -> path) == 10)
  }

  /** Writes a folder with 5 rows, an orphaned file and a log. Returns the committed file.
    *
    * @param root
    *   address of the folder for the log
    */
  private def committed(path: String, root: String): Path = {
    spark.range(0, 5, 1, 1).write.parquet(path)
    orphan(path)
    val file  = parts(path).filterNot(_.toString.contains("orphan")).head
    val entry = s"""{"path":"$root/${file.getFileName}","size":${Files.size(file)},"isDir":false,"action":"add"}"""
    Files.createDirectory(Paths.get(path, "_spark_metadata"))
    rewrite(Paths.get(path, "_spark_metadata", "0"), s"v1\n$entry")
    file
  }

  test("a folder with a colon in its name is read, and a deleted committed file is noticed") {
    val path = at("run-10:00")
    val file = committed(path, Paths.get(path).toUri.toString.stripSuffix("/"))
    assert(count("path" -> path) == 5)
    Files.delete(file)
    assert(failure("path" -> path, "schema" -> "id BIGINT").getCondition == "SPLICE_FILES.FILE_NOT_FOUND")
  }

  test("a folder at the root of a file system is read, and a deleted committed file is noticed") {
    val file = committed(at("store"), "rooted://bucket")
    val all  = Seq(
      "path"             -> "rooted://bucket/",
      "schema"           -> "id BIGINT",
      "fs.rooted.impl"   -> classOf[RootedFileSystem].getName,
      "fs.rooted.folder" -> at("store")
    )
    assert(count(all: _*) == 5)
    Files.delete(file)
    assert(failure(all: _*).getCondition == "SPLICE_FILES.FILE_NOT_FOUND")
  }
}
