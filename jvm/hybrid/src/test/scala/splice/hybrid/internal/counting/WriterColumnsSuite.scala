// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.source.OffsetColumns

/** Tests of the columns of known writers in schemas. */
final class WriterColumnsSuite extends AnyFunSuite {

  private def found(columns: String): Seq[OffsetColumns] = WriterColumns.all(StructType.fromDDL(columns))

  private def certain(columns: String): Seq[OffsetColumns] = found(columns).filter(WriterColumns.hasKnownTopic)

  test("the columns of each known writer are found") {
    Seq("" -> "", "kafka_" -> "kafka_", "_kafka_metadata_" -> "_kafka_metadata_").foreach { case (p, name) =>
      val all = s"id string, ${p}topic string, ${p}partition int, ${p}offset bigint"
      assert(certain(all) == Seq(OffsetColumns(s"${name}topic", s"${name}partition", s"${name}offset")))
    }
    assert(
      certain("id string, _kafka_metadata struct<topic: string, partition: int, offset: bigint, timestamp: bigint>") ==
        Seq(OffsetColumns("_kafka_metadata.topic", "_kafka_metadata.partition", "_kafka_metadata.offset"))
    )
    assert(certain("`at kafka` struct<topic: string, partition: decimal(10), offset: decimal(20)>") ==
      Seq(OffsetColumns("`at kafka`.topic", "`at kafka`.partition", "`at kafka`.offset")))
    assert(certain("redpanda struct<partition: int, offset: bigint, key: binary>, id string") ==
      Seq(OffsetColumns(None, "redpanda.partition", "redpanda.offset")))
  }

  test("columns without a topic are found, and only those of a table per topic are certain") {
    val plain = "t string, partition int, offset bigint, at struct<partition: int, offset: bigint>"
    assert(found(plain) == Seq(
      OffsetColumns(None, "partition", "offset"),
      OffsetColumns(None, "at.partition", "at.offset")
    ))
    assert(certain(plain).isEmpty)
  }

  test("columns of other types, and a part of the columns, are not found") {
    assert(found("topic string, partition string, offset bigint").isEmpty)
    assert(found("topic string, partition int, offset double").isEmpty)
    assert(found("topic string, partition int, kafka_offset bigint").isEmpty)
    assert(found("at struct<topic: string, partition: int, position: bigint>").isEmpty)
    assert(certain("topic int, partition int, offset bigint").isEmpty)
  }

  test("several groups of columns are all found") {
    val both =
      "topic string, partition int, offset bigint, kafka_topic string, kafka_partition int, kafka_offset bigint"
    assert(certain(both).map(_.topic) == Seq(Some("topic"), Some("kafka_topic")))
  }
}
