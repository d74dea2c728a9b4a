// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.io.IOException
import java.net.UnknownHostException
import java.nio.file.{AccessDeniedException, Files, Paths}

import org.apache.hadoop.fs.UnsupportedFileSystemException
import org.apache.hadoop.hdfs.BlockMissingException
import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

import splice.files.{LocalSpark, SourceRead}

/** Tests of storage errors that are not caused by the file. */
final class UnreadableFileSuite extends AnyFunSuite with LocalSpark {

  test("a file without permission, with a missing block or without a file system is neither missing nor corrupt") {
    spark.range(0, 10, 1, 2).write.parquet(at("denied"))
    val file    = Files.list(Paths.get(at("denied"))).filter(_.toString.endsWith(".parquet")).findFirst.get.toString
    val options = Seq(
      "format"             -> "parquet",
      "path"               -> s"counting://${at("denied")}",
      "ignoreCorruptFiles" -> "true",
      "ignoreMissingFiles" -> "true",
      "schema"             -> "id BIGINT"
    )
    Seq(
      new AccessControlException("no permission"),
      new AccessDeniedException(file),
      new BlockMissingException(file, "no block", 0L),
      new RuntimeException("wrapped", new AccessControlException("no permission")),
      new RuntimeException("wrapped", new ClassNotFoundException("no.such.Class")),
      new IllegalArgumentException(new UnknownHostException("nowhere")),
      new UnsupportedFileSystemException("no scheme")
    ).foreach { e =>
      CountingFileSystem.failing(file, e) {
        val error = intercept[Exception](SourceRead(options: _*).rows())
        assert(error.getMessage.contains(e.getMessage))
      }
    }
    CountingFileSystem.failing(file, new IOException("broken")) {
      assert(SourceRead(options: _*).rows().size == 5)
    }
  }
}
