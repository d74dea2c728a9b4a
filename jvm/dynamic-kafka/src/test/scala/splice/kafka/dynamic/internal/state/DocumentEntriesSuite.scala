// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.{HadoopSideLog, MemorySideLog}
import splice.source.runtime.SideLog

/** Tests of the stored generation with two drivers. The first driver should have ended. */
final class DocumentEntriesSuite extends AnyFunSuite {

  private def folder: () => SideLog = {
    val path = new Path(Files.createTempDirectory("splice-documents").toUri)
    () => new HadoopSideLog(path, new Configuration(false))
  }

  test("a lower generation of another driver does not replace the greatest generation") {
    val log = folder
    new DocumentEntries(log()).store(5)
    val (one, other) = (new DocumentEntries(log()), new DocumentEntries(log()))
    one.store(10)
    other.store(8)
    assert(other.greatest.contains(10L) && new DocumentEntries(log()).greatest.contains(10L))
    other.store(12)
    one.store(11)
    assert(new DocumentEntries(log()).greatest.contains(12L))
    assert(log().keys("document-").size == 1)
  }

  test("an entry that another driver removes after the list was read does not fail the start") {
    val log = folder
    new DocumentEntries(log()).store(5)
    val listed = log()
    assert(listed.keys("document-").nonEmpty)
    new DocumentEntries(log()).store(7)
    val late = new DocumentEntries(listed)
    assert(late.greatest.isEmpty)
    late.store(6)
    assert(late.greatest.contains(7L) && new DocumentEntries(log()).greatest.contains(7L))
  }

  test("the greatest generation is None if no generation is stored") {
    assert(new DocumentEntries(new MemorySideLog).greatest.isEmpty)
  }
}
