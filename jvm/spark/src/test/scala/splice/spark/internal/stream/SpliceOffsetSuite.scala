// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.nio.file.Files
import java.util.Optional

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceProvider
import splice.source.options.SourceOptions
import splice.spark.WithSpark
import splice.testkit.internal.memory.MemoryLog

/** Texts of offsets: Spark starts a batch if the text changes. */
final class SpliceOffsetSuite extends AnyFunSuite with WithSpark {

  private def stream(log: String, checkpoint: String, more: (String, String)*): SpliceMicroBatchStream = {
    val _       = spark
    val options = SourceOptions(Map("source" -> "memory", "log" -> log) ++ more)
    SpliceMicroBatchStream(SourceProvider.create(options), options, new StructType(), checkpoint)
  }

  private def checkpoint(name: String): String =
    Files.createDirectories(folder.resolve(s"$name/sources/0")).toUri.toString

  test("an offset keeps the text that it was read from, and an idle trigger returns that offset") {
    val log = new MemoryLog("kept-text").addPartitions(2)
    log.append(0, 1L)
    val own   = stream("kept-text", checkpoint("kept-text"))
    val start = own.initialOffset()
    val until = own.latestOffset(start, own.getDefaultReadLimit)
    assert(until != start)
    // The same position with spaces, because another source of the checkpoint may write spaces.
    val written = until.json.replace(":", " : ")
    val kept    = own.deserializeOffset(written)
    assert(kept.json == written)
    assert(own.latestOffset(kept, own.getDefaultReadLimit) eq kept)
    assert(own.planInputPartitions(kept, until).isEmpty)
    log.append(1, 2L)
    val next = own.latestOffset(kept, own.getDefaultReadLimit)
    assert(next.json != written && !next.json.contains(" : ") && own.planInputPartitions(kept, next).length == 1)
    assert(own.metrics(Optional.of(next)).containsKey("slots"))
    own.stop()
  }
}
