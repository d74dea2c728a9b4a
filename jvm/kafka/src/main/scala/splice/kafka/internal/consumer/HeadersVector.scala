// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.util.Arrays

import org.apache.spark.sql.types.{ArrayType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray}
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.value.KafkaSchema

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** The column of the headers. A record without headers has null.
  *
  * Headers become objects when Spark reads the column. The objects are kept until [[forget]], because Spark may read
  * all rows of a batch before it uses their values.
  */
final private[kafka] class HeadersVector(kind: ArrayType, window: RecordWindow) extends ViewVector(kind) {

  private val shown    = new ShownHeaders
  private val elements = new HeaderVector(kind.elementType.asInstanceOf[StructType], shown)

  override def hasNull: Boolean          = true
  override def isNullAt(i: Int): Boolean = !window.hasHeaders(i)

  override def getArray(i: Int): ColumnarArray = {
    val from = shown.size
    window.headers(i, shown)
    new ColumnarArray(elements, from, shown.size - from)
  }

  override def getChild(ordinal: Int): ColumnVector = elements

  /** Ends the use of all headers that were read. The reader calls this method before the window moves. */
  def forget(): Unit = shown.clear()
}

private[splice] object HeadersVector {

  def apply(window: RecordWindow): HeadersVector = new HeadersVector(KafkaSchema.HeadersType, window)
}

/** A sequence of headers of several records. Used by one thread. */
final private[splice] class ShownHeaders {

  private var count  = 0
  private var keys   = new Array[UTF8String](ShownHeaders.First)
  private var values = new Array[Array[Byte]](ShownHeaders.First)

  def size: Int                    = count
  def key(i: Int): UTF8String      = keys(i)
  def value(i: Int): Array[Byte]   = values(i)
  def isValueNull(i: Int): Boolean = values(i) == null

  /** Appends a header. The value may be null. */
  def add(key: UTF8String, value: Array[Byte]): Unit = {
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, count * 2)
      values = Arrays.copyOf(values, count * 2)
    }
    keys(count) = key
    values(count) = value
    count += 1
  }

  /** Removes all headers from memory. */
  def clear(): Unit = if (count > 0) {
    Arrays.fill(keys.asInstanceOf[Array[Object]], 0, count, null)
    Arrays.fill(values.asInstanceOf[Array[Object]], 0, count, null)
    count = 0
  }
}

private object ShownHeaders {
  private val First = 16
}

/** Headers as structs of a key and a value. */
final private class HeaderVector(kind: StructType, shown: ShownHeaders) extends ViewVector(kind) {

  private val key   = new HeaderKeyVector(kind, shown)
  private val value = new HeaderValueVector(kind, shown)

  override def getChild(ordinal: Int): ColumnVector = if (ordinal == 0) key else value
}

final private class HeaderKeyVector(kind: StructType, shown: ShownHeaders) extends ViewVector(kind(0).dataType) {
  override def getUTF8String(i: Int): UTF8String = shown.key(i)
}

final private class HeaderValueVector(kind: StructType, shown: ShownHeaders) extends ViewVector(kind(1).dataType) {
  override def hasNull: Boolean               = true
  override def isNullAt(i: Int): Boolean      = shown.isValueNull(i)
  override def getBinary(i: Int): Array[Byte] = shown.value(i)
}
