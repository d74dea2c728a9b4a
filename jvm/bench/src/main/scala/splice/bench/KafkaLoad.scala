// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import java.nio.charset.StandardCharsets.US_ASCII
import java.util.{Map => JMap, Properties}

import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.ByteArraySerializer

import splice.testkit.KafkaTopics

/** Creates topics with records of one size. */
final class KafkaLoad(servers: String) {

  private val Values = 1 << 12

  /** Creates and fills a topic. */
  def fill(topic: TopicSpec): Unit = {
    create(topic.name, topic.partitions)
    val values = KafkaLoad.values(Values, topic.bytes)
    Using.resource(producer(topic.codec)) { producer =>
      var i = 0L
      while (i < topic.rows) {
        val key = BigInt(i).toByteArray
        producer.send(new ProducerRecord(topic.name, topic.partition(i), key, values((i & (Values - 1)).toInt)))
        i += 1
      }
      producer.flush()
    }
  }

  /** Creates an empty topic. */
  def create(topic: String, partitions: Int): Unit = administer(KafkaTopics.create(_, topic, partitions))

  /** Deletes a topic. */
  def delete(topic: String): Unit = administer { admin =>
    val _ = admin.deleteTopics(List(topic).asJava).all().get()
  }

  /** Creates a producer with large batches. */
  def producer(codec: String, lingerMillis: Int = 20): KafkaProducer[Array[Byte], Array[Byte]] = {
    val settings: JMap[String, AnyRef] = Map[String, AnyRef](
      "bootstrap.servers" -> servers,
      "batch.size"        -> (256 << 10).toString,
      "linger.ms"         -> lingerMillis.toString,
      "buffer.memory"     -> (128L << 20).toString,
      "compression.type"  -> codec,
      "acks"              -> "1"
    ).asJava
    new KafkaProducer(settings, new ByteArraySerializer, new ByteArraySerializer)
  }

  private def administer(work: Admin => Unit): Unit = {
    val properties = new Properties
    properties.put("bootstrap.servers", servers)
    Using.resource(Admin.create(properties))(work)
  }
}

object KafkaLoad {

  /** Creates different values of one size. Values consist of words, so their compression ratio equals the compression
    * ratio of text.
    */
  def values(count: Int, bytes: Int): Array[Array[Byte]] = {
    val random = new Random(7)
    val words  = Array.fill(200)(random.alphanumeric.take(random.between(2, 9)).mkString)
    Array.fill(count) {
      val text =
        Iterator.continually(words(random.nextInt(words.length))).scanLeft("")(_ + " " + _).find(_.length > bytes)
      text.mkString.takeRight(bytes).getBytes(US_ASCII)
    }
  }
}
