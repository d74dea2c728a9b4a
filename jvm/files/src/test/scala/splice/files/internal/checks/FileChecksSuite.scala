// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.checks

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.LocalSpark
import splice.files.internal.enumerator.{FileList, FileLists, FilesPosition}
import splice.files.internal.split.{FileSchemas, ListedFile, Packing}
import splice.files.storage.{DenyingFileSystem, UnreachableFileSystem}
import splice.source.internal.checks.{CheckpointFinding, StoredOffset, StoredSource}

/** Tests of the comparison of unread files with their storage. */
final class FileChecksSuite extends AnyFunSuite with LocalSpark {

  private val FileSystems = Seq(
    "fs.lost.impl"        -> "no.such.Class",
    "fs.unreachable.impl" -> classOf[UnreachableFileSystem].getName,
    "fs.denying.impl"     -> classOf[DenyingFileSystem].getName
  )

  private def findings(paths: String*): Seq[CheckpointFinding] = {
    val log    = new MemorySideLog
    val listed = paths.toIndexedSeq.map(ListedFile(_, 5, 0, splittable = true, InternalRow.empty))
    new FileLists(log).create(0)(new FileList(FileSchemas.empty, Packing(1000, 10, 2), listed))
    val start = StoredOffset("offsets/0", FilesPosition.Start.json)
    FileSystems.foreach { case (key, value) => spark.conf.set(key, value) }
    try FileChecks(StoredSource("sources/0", log, Nil, Seq(start), Some(start), Map.empty))
    finally FileSystems.foreach { case (key, _) => spark.conf.unset(key) }
  }

  private def notes(found: Seq[CheckpointFinding]): Seq[String] = found.filterNot(_.isProblem).map(_.where)

  test("unread files on a missing file system or an unknown host are one note") {
    Seq("lost://b", "nosuch://b", "hdfs://no-such-host.invalid:8020").foreach { root =>
      val found = findings(s"$root/x", s"$root/y")
      assert(found.size == 1 && notes(found) == Seq(s"$root/x"))
      assert(found.head.what.contains("storage is not available"))
    }
  }

  test("a file system that does not respond receives one request, and files of other file systems are compared") {
    val before = UnreachableFileSystem.requests.get
    val gone   = s"file:${at("gone")}"
    val found  = findings("unreachable:///x", "lost://b/x", gone, "unreachable:///y", "lost://b/y")
    assert(UnreachableFileSystem.requests.get == before + 1)
    assert(notes(found) == Seq("unreachable:///x", "lost://b/x"))
    assert(found.filter(_.isProblem).map(_.where) == Seq(gone))
  }

  test("a file with denied access is one note, and the other files of its file system are compared") {
    Files.createDirectories(Paths.get(at("locked")))
    val (denied, gone) = (s"denying:${at("locked/x")}", s"denying:${at("gone")}")
    val found          = findings(denied, s"$denied-2", gone)
    assert(notes(found) == Seq(denied) && found.filter(_.isProblem).map(_.where) == Seq(gone))
  }
}
