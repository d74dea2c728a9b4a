// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import java.io.{IOException, InterruptedIOException}

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException
import splice.source.runtime.SideLog

final class NumberedEntriesSuite extends AnyFunSuite {

  test("the number of a key is parsed, also with more than eight digits") {
    Seq(0, 7, 99999999, 100000000, Int.MaxValue).foreach { number =>
      assert(NumberedEntries.number("skips", NumberedEntries.key("skips", number)).contains(number))
    }
  }

  test("a key without the prefix, or with other digits, is not a numbered entry") {
    Seq("00000001", "skips-1", "skips-000000001", "skips--0000001", "skips-99999999999", "skips-", "starts-00000001")
      .foreach(key => assert(NumberedEntries.number("skips", key).isEmpty, key))
  }

  /** Side log in memory. Removals fail with the exception that the test sets. */
  final private class Entries extends SideLog {
    val entries                              = mutable.TreeMap.empty[String, Seq[String]]
    var failure: Option[String => Throwable] = None

    override def get(key: String): Option[Seq[String]]                         = entries.get(key)
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = entries.getOrElseUpdate(key, decide)
    override def keys(prefix: String): Seq[String]                             = entries.keysIterator.toSeq
    override def remove(key: String): Unit                                     = {
      failure.foreach(fail => throw fail(key))
      entries -= key
    }
    override def scope(name: String): SideLog = this
    override def folder(name: String): Path   = throw new IllegalStateException(name)
  }

  private def three(log: SideLog): NumberedEntries[String] = {
    val created = new NumberedEntries(log, "skips")(_.line)
    (1 to 3).foreach(n => created.append(VersionedEntry.write(Nil, Seq(s"$n"))))
    created
  }

  test("an entry that the storage does not remove stays until a later purge") {
    val log     = new Entries
    val created = three(log)
    log.failure = Some(key => new IOException(s"503 for $key"))
    created.purge(Seq(0, 1))
    created.purge(Seq(0, 1))
    assert(created.all == Seq("1", "2", "3") && log.entries.size == 3)
    log.failure = None
    created.purge(Seq(0, 1))
    assert(created.all == Seq("3") && log.entries.keySet == Set("skips-00000002"))
  }

  test("an interrupted purge ends with the interruption") {
    val log     = new Entries
    val created = three(log)
    log.failure = Some(_ => new InterruptedIOException("the query stops"))
    intercept[InterruptedIOException](created.purge(Seq(0)))
  }

  test("an entry with a fixed key is created once, and a missing entry is named") {
    val log                 = new Entries
    val entry               = new SingleEntry(log, "end")(_.line)
    def lines(text: String) = VersionedEntry.write(Nil, Seq(text))
    assert(!entry.exists && entry.find.isEmpty)
    val missing = intercept[SpliceException](entry.required)
    assert(missing.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
    assert(missing.getMessage.contains("Side-log entry end"))
    assert(entry.getOrCreate(lines("1")) == "1" && entry.getOrCreate(lines("2")) == "1")
    entry.create(lines("3"))
    assert(entry.exists && entry.find.contains("1") && entry.required == "1")
    assert(log.entries.toMap == Map("end" -> lines("1")))
  }

  test("an entry with a fixed key that is not parsed may be damaged") {
    val log   = new Entries
    val entry = new SingleEntry(log, "end")(_.line)
    log.entries("end") = Seq("damaged")
    entry.create(fail("the entry exists"))
    assert(entry.exists)
    assert(intercept[SpliceException](entry.find).getCondition == "SPLICE_CHECKPOINT.CORRUPT")
  }
}
