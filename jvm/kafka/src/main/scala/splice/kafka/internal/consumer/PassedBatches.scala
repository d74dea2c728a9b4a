// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Modifier, Proxy}
import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicBoolean
import java.util.{Collections, Iterator => JIterator, List => JList, OptionalLong}

import scala.collection.immutable.ArraySeq
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.clients.{ClientResponse, KafkaClient}
import org.apache.kafka.common.header.Header
import org.apache.kafka.common.record._
import org.apache.kafka.common.requests.FetchResponse
import org.apache.kafka.common.utils.{BufferSupplier, CloseableIterator}
import org.slf4j.LoggerFactory

import splice.kafka.internal.options.ClientProperties
import splice.kafka.internal.topicids.ClientFields

/** A group of consecutive batches that a consumer returns as the only header of one record. The offset of this record
  * is the offset of the last record in the batches.
  *
  * The consumer still handles metadata, sessions, positions, checksums and transactions, but creates no object per
  * record. The consumer processes the group as one batch. A group is therefore a control batch, or consists of batches
  * of one producer. All batches of a group are in the same transaction, or none of these batches is in a transaction.
  * [[BatchRecords]] decodes the batches.
  */
final private[splice] class PassedBatches(batches: IndexedSeq[RecordBatch], wire: IndexedSeq[WireBatch])
    extends RecordBatch {

  private val first = batches.head
  private val last  = batches.last

  override def streamingIterator(buffers: BufferSupplier): CloseableIterator[Record] =
    CloseableIterator.wrap(Collections.singletonList[Record](new PassedRecord(this, wire)).iterator)

  override def iterator: JIterator[Record]       = batches.iterator.flatMap(_.asScala).asJava
  override def isValid: Boolean                  = batches.forall(_.isValid)
  override def ensureValid(): Unit               = batches.foreach(_.ensureValid())
  override def checksum: Long                    = first.checksum
  override def maxTimestamp: Long                = batches.iterator.map(_.maxTimestamp).max
  override def timestampType: TimestampType      = first.timestampType
  override def baseOffset: Long                  = first.baseOffset
  override def lastOffset: Long                  = last.lastOffset
  override def nextOffset: Long                  = last.nextOffset
  override def magic: Byte                       = first.magic
  override def producerId: Long                  = first.producerId
  override def producerEpoch: Short              = first.producerEpoch
  override def hasProducerId: Boolean            = first.hasProducerId
  override def baseSequence: Int                 = first.baseSequence
  override def lastSequence: Int                 = last.lastSequence
  override def compressionType: CompressionType  = first.compressionType
  override def sizeInBytes: Int                  = batches.iterator.map(_.sizeInBytes).sum
  override def countOrNull: Integer              = first.countOrNull
  override def isCompressed: Boolean             = first.isCompressed
  override def writeTo(buffer: ByteBuffer): Unit = batches.foreach(_.writeTo(buffer))
  override def isTransactional: Boolean          = first.isTransactional
  override def deleteHorizonMs: OptionalLong     = first.deleteHorizonMs
  override def partitionLeaderEpoch: Int         = last.partitionLeaderEpoch
  override def isControlBatch: Boolean           = first.isControlBatch
}

/** Represents batches where the consumer expects records. */
final private class PassedRecord(batch: PassedBatches, wire: IndexedSeq[WireBatch]) extends Record {
  override def offset: Long                                   = batch.lastOffset
  override def sequence: Int                                  = batch.lastSequence
  override def sizeInBytes: Int                               = batch.sizeInBytes
  override def timestamp: Long                                = batch.maxTimestamp
  override def ensureValid(): Unit                            = ()
  override def keySize: Int                                   = -1
  override def hasKey: Boolean                                = false
  override def key: ByteBuffer                                = Option.empty[ByteBuffer].orNull
  override def valueSize: Int                                 = -1
  override def hasValue: Boolean                              = false
  override def value: ByteBuffer                              = Option.empty[ByteBuffer].orNull
  override def hasMagic(magic: Byte): Boolean                 = batch.magic == magic
  override def isCompressed: Boolean                          = false
  override def hasTimestampType(kind: TimestampType): Boolean = batch.timestampType == kind
  override def headers: Array[Header]                         = Array(new WireBatches(wire))
}

private[splice] object PassedBatches {

  /** The JVM property that makes readers use records instead of batches, for tests. */
  val Off = "splice.kafka.records"

  // A poll returns several groups of this size. The consumer uses the network between the groups.
  private val MostBytes = 128 << 10

  private val logger = LoggerFactory.getLogger(classOf[PassedBatches])

  // The fields that lead from a consumer to its delegate, its network client, and the client of the network client.
  private val path = Seq("delegate", "client", "client")

  // Set when a consumer rejects the change although this version of the client should support it.
  private val failed = new AtomicBoolean

  /** True if readers of a source can use batches. Otherwise, readers use records, and reading is slower. */
  def isSupported(client: ClientProperties): Boolean =
    isKnown && !failed.get && !client.usesNewProtocol && !sys.props.contains(Off)

  private lazy val isKnown: Boolean = {
    missing.foreach(reason => warn(reason))
    missing.isEmpty
  }

  private def warn(reason: String): Unit = logger.warn(
    s"Readers take records from Kafka's client, and reading is slower than with batches: $reason. Use the version " +
      "of kafka-clients that Splice's package depends on."
  )

  /** The reason why this version of the client does not support batches; None if this version supports batches. */
  private[kafka] lazy val missing: Option[String] =
    try {
      val network = Class.forName("org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient")
      val classic = Class.forName("org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer")
      val classes = Seq(classOf[KafkaConsumer[_, _]], classic, network).zip(path).map { case (in, name) =>
        in.getDeclaredField(name).getType
      }
      val abstracts = Seq(classOf[RecordBatch] -> classOf[PassedBatches], classOf[Record] -> classOf[PassedRecord])
        .flatMap { case (interface, wrapper) => uncovered(interface, wrapper) }
      if (!classes(0).isAssignableFrom(classic)) Some("the consumer is another class")
      else if (classes(1) != network || classes(2) != classOf[KafkaClient]) Some("a field has another class")
      else abstracts.headOption.map(method => s"$method is not implemented")
    } catch { case e @ (_: ReflectiveOperationException | _: LinkageError) => Some(e.toString) }

  private def uncovered(interface: Class[_], wrapper: Class[_]): Seq[Method] =
    interface.getMethods.toSeq.filter { method =>
      Modifier.isAbstract(method.getModifiers) &&
      Try(wrapper.getMethod(method.getName, method.getParameterTypes: _*)).toOption
        .forall(member => Modifier.isAbstract(member.getModifiers))
    }

  /** Makes a new consumer return batches. Returns false if the client does not support batches. */
  def install(consumer: KafkaConsumer[_, _]): Boolean =
    try {
      val network = ClientFields.value(consumer, path.init)
      val client  = ClientFields.field(network, path.last)
      val inner   = client.get(network).asInstanceOf[KafkaClient]
      val handler = new Forwarding(inner) {
        override def around(method: String, call: => Object): Object = {
          val result = call
          if (method == "poll") result.asInstanceOf[JList[ClientResponse]].forEach(pass(_))
          result
        }
      }
      client.set(
        network,
        Proxy.newProxyInstance(classOf[KafkaClient].getClassLoader, Array(classOf[KafkaClient]), handler)
      )
      true
    } catch {
      case e @ (_: ReflectiveOperationException | _: RuntimeException) =>
        if (!failed.getAndSet(true)) warn(e.toString)
        false
    }

  /** Replaces the records of a response before the consumer processes the response. */
  private def pass(response: ClientResponse): Unit = response.responseBody match {
    case fetch: FetchResponse =>
      fetch.data.responses.forEach(_.partitions.forEach { partition =>
        partition.records match {
          case fetched: MemoryRecords => val _ = partition.setRecords(records(fetched))
          case _                      => ()
        }
      })
    case _ => ()
  }

  private def records(fetched: MemoryRecords): Records = {
    val handler = new Forwarding(fetched) {
      override def around(method: String, call: => Object): Object =
        if (method == "batches") (() => of(fetched)): java.lang.Iterable[PassedBatches] else call
    }
    Proxy.newProxyInstance(classOf[Records].getClassLoader, Array(classOf[Records]), handler).asInstanceOf[Records]
  }

  /** The batches of a response, in groups. */
  def of(records: MemoryRecords): JIterator[PassedBatches] = new JIterator[PassedBatches] {
    private val all = WireBatch.of(records).asScala.buffered

    override def hasNext: Boolean = all.hasNext

    override def next(): PassedBatches = {
      val batches = ArraySeq.newBuilder[RecordBatch]
      val wire    = ArraySeq.newBuilder[WireBatch]
      val first   = all.head._1
      var bytes   = 0
      while (all.hasNext && (bytes == 0 || (joins(first, all.head._1) && bytes + all.head._2.bytes <= MostBytes))) {
        val (batch, wireBatch) = all.next()
        batches += batch
        wire += wireBatch
        bytes += wireBatch.bytes
      }
      new PassedBatches(batches.result(), wire.result())
    }
  }

  /** True if a consumer treats both batches in the same way, in each isolation level. A control batch separates two
    * transactions of a producer.
    */
  private def joins(first: RecordBatch, next: RecordBatch): Boolean =
    !first.isControlBatch && !next.isControlBatch && first.magic == next.magic &&
      first.isTransactional == next.isTransactional && first.producerId == next.producerId
}

/** Forwards the calls of an interface to an object. */
abstract private class Forwarding(inner: Object) extends InvocationHandler {

  /** Returns the result of a method. `call` calls the method on the object. */
  def around(method: String, call: => Object): Object

  final override def invoke(proxy: Object, method: Method, arguments: Array[Object]): Object =
    try around(method.getName, method.invoke(inner, arguments: _*))
    catch { case e: InvocationTargetException => throw e.getCause }
}
