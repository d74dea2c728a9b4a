// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.time.Clock

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.SourceRead
import splice.files.internal.split.{FileSchemas, ListedFile, Packing}
import splice.files.storage.CountingFileSystem
import splice.source.{EnumeratorContext, Limits, ReadMode}

/** Tests with ten thousand files: no requests to the file system, a short offset, and small tasks. */
final class LargeListSuite extends AnyFunSuite {

  private val count = 10000

  private val list = new FileList(
    FileSchemas(StructType.fromDDL("id BIGINT"), new StructType()),
    Packing(128L << 20, 4L << 20, 2),
    (0 until count).map { i =>
      ListedFile(
        f"counting:/lake/orders/day=2026-11-${i % 28 + 1}%02d/part-$i%05d-0b6f2a4e-c000.parquet",
        130L << 20,
        1700000000000L + i,
        splittable = true,
        InternalRow.empty
      )
    }
  )

  test("batches are planned from the list only") {
    val log     = new MemorySideLog
    val entries = new FileListEntries(log)
    entries.create(list)
    entries.close(count)
    val source = SourceRead.source("format" -> "parquet", "path" -> "counting:///lake/orders", "schema" -> "id BIGINT")
    val enumerator          = source.enumerator(EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "large"))
    val (ranges, requested) = CountingFileSystem.during("/lake") {
      val start = FilesPosition.Start
      val until = enumerator.advance(start, Limits.Everything)
      assert(until.json.length < 1000)
      enumerator.splits(start, until)
    }
    assert(requested.isEmpty)
    assert(ranges.map(_.weight).sum == list.unread(FilesPosition.Start))
    val bytes = new ByteArrayOutputStream
    val out   = new ObjectOutputStream(bytes)
    out.writeObject(ranges.head)
    out.close()
    assert(bytes.size < 2000)
  }
}
