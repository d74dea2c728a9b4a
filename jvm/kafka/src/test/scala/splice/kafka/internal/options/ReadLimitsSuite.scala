// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

/** Tests of consumer limits within a number of bytes. */
final class ReadLimitsSuite extends AnyFunSuite {

  private val mib = 1L << 20

  private def client(options: (String, String)*) =
    KafkaSettings(SourceOptions(Map("kafka.bootstrap.servers" -> "one:9092", "subscribe" -> "t") ++ options)).client

  test("responses, polled records and leftover records fit into the bytes, for any numbers") {
    val random = new Random(11)
    (1 to 2000).foreach { _ =>
      val bytes                  = mib + random.nextLong(1024 * mib)
      val partitions             = 1 + random.nextInt(600)
      val record                 = math.exp(random.nextDouble() * 16)
      val limits                 = ReadLimits.within(bytes, partitions, Some(record))
      val reader                 = client().reader("run", limits)
      def set(key: String): Long = reader(key).toString.toLong
      // The client keeps one response per partition, and the socket needs a copy of one response.
      val responses = partitions * set("fetch.max.bytes") + set("fetch.max.bytes")
      val polled    = set("max.poll.records") * (record + 400)
      val smallest  = set("fetch.max.bytes") == 16384
      assert(responses <= bytes / 2 || smallest, (bytes, partitions, limits))
      assert(polled <= bytes / 4 || set("max.poll.records") == 1, (bytes, record, limits))
      assert(limits.leftoverBytes <= bytes / 4)
      assert(set("max.partition.fetch.bytes") <= set("fetch.max.bytes"))
    }
  }

  test("if a poll returns batches, responses, decoded bytes and leftover batches fit into the bytes") {
    val random = new Random(12)
    (1 to 2000).foreach { _ =>
      val bytes                  = mib + random.nextLong(1024 * mib)
      val partitions             = 1 + random.nextInt(600)
      val limits                 = ReadLimits.ofBatches(bytes, partitions)
      val reader                 = client("kafka.max.poll.records" -> "5000").reader("run", limits)
      def set(key: String): Long = reader(key).toString.toLong
      // A poll returns some groups of batches. Each group may be the last group of the response of its partition.
      val responses = (partitions + math.min(partitions.toLong, set("max.poll.records")) + 1) * set("fetch.max.bytes")
      assert(set("max.poll.records") == 8)
      assert(responses + limits.leftoverBytes + 256 * 1024 <= bytes || set("fetch.max.bytes") == 16384, (bytes, limits))
    }
  }

  test("if a poll returns batches, max.poll.records has no effect and logs no warning") {
    val limits = ReadLimits.ofBatches(64 * mib, 8)
    Seq("7", "100000").foreach { set =>
      val own = client("kafka.max.poll.records" -> set)
      assert(own.limited(limits) == limits && own.above(limits).isEmpty)
    }
  }

  test("a record that exceeds its share is polled alone") {
    assert(ReadLimits.within(16 * mib, 4, Some(100.0 * mib)).pollRecords == 1)
  }

  test("few partitions have large responses, and many partitions have small responses") {
    def fetch(bytes: Long, partitions: Int) = ReadLimits.within(bytes, partitions, None).fetchBytes
    assert(fetch(512 * mib, 1) == 16 * mib)
    assert(fetch(64 * mib, 1) == 16 * mib)
    assert(fetch(64 * mib, 31) == fetch(64 * mib, 32) && fetch(64 * mib, 32) == 32 * mib / 33)
    assert(fetch(mib, 500) == 16 << 10)
  }

  test("properties below the limits are kept, and properties above the limits are lowered and reported") {
    val limits = ReadLimits.within(64 * mib, 8, None)
    val own    = client(
      "kafka.fetch.max.bytes"           -> "1000000000",
      "kafka.max.partition.fetch.bytes" -> "1000",
      "kafka.max.poll.records"          -> "100000"
    )
    val limited = own.limited(limits)
    val reader  = own.reader("run", limited)
    assert(reader("fetch.max.bytes") == limits.fetchBytes.toString)
    assert(reader("max.partition.fetch.bytes") == "1000")
    assert(reader("max.poll.records") == limits.pollRecords.toString)
    assert(own.above(limited).toSet == Set(
      ("fetch.max.bytes", 1000000000, limits.fetchBytes),
      ("max.poll.records", 100000, limits.pollRecords)
    ))
    assert(client("kafka.max.poll.records" -> "7").limited(limits).pollRecords == 7)
  }

  test("a property that is not a number is rejected by Kafka") {
    val own = client("kafka.max.poll.records" -> "many")
    assert(own.reader("run", own.limited(ReadLimits.within(64 * mib, 8, None)))("max.poll.records") == "many")
  }

  test("readBufferBytes is a size of 16m or more, and has no value by default") {
    def set(text: String) = KafkaSettings(
      SourceOptions(Map("kafka.bootstrap.servers" -> "one:9092", "subscribe" -> "t", "readBufferBytes" -> text))
    ).readBufferBytes
    assert(set("16m").contains(16 * mib) && set("1g").contains(1024 * mib) && set("20000000").contains(20000000L))
    Seq("15m", "0", "-1", "much").foreach { text =>
      val error = intercept[SpliceOptionException](set(text)).getMessage
      assert(error.contains("'readBufferBytes'") && error.contains("16m or more"), error)
    }
  }
}
