// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types._

import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, Limits, Source, SplitEnumerator}

/** Source of a [[MemoryLog]]: an unbounded source reads a log, a bounded source reads an archive. Readers work in
  * this JVM only.
  */
final private[splice] class MemorySource(
    log: String,
    override val boundedness: Boundedness,
    starting: String,
    limits: Limits.Limited,
    columnar: Boolean
) extends Source[MemoryPosition] {

  override def kind: String = MemoryOptions.Kind

  override def schema: StructType = {
    MemoryLog(log).call("schema")
    MemorySource.Schema
  }

  override def metadataColumns: StructType = MemorySource.Metadata

  override def identity: SortedMap[String, String] = SortedMap("log" -> log)

  override def position(json: String): MemoryPosition = MemoryPosition.parse(log, json)

  override def enumerator(context: EnumeratorContext): SplitEnumerator[MemoryPosition] = {
    MemoryLog(log).call("enumerator")
    new MemoryEnumerator(log, boundedness == Boundedness.Bounded, starting, limits, columnar, context)
  }

  override def mayBeColumnar: Boolean = columnar

  override def beginsByOffsets: Boolean = true

  override def beginsByPosition: Boolean = true

  // An archive may be removed, like files.
  override def schemaNeedsStorage: Boolean = boundedness == Boundedness.Bounded
}

private[splice] object MemorySource {

  /** Origin, id and time of a record. */
  val Schema: StructType = StructType(
    Seq(
      StructField("topic", StringType),
      StructField("partition", IntegerType),
      StructField("offset", LongType),
      StructField("id", LongType),
      StructField("timestamp", TimestampType)
    )
  )

  /** Log of a row, and key of the record. */
  val Metadata: StructType =
    StructType(Seq(StructField("_log", StringType, nullable = false), StructField("_key", StringType)))
}
