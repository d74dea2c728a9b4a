// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import java.util.{Map => JMap, Properties}

import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import org.apache.kafka.clients.admin.{Admin, NewTopic}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.ByteArraySerializer

/** Fills a topic with records of one size, the same number in every partition. */
object KafkaLoad {

  def fill(servers: String, topic: String, partitions: Int, rows: Long, bytes: Int): Unit = {
    val properties = new Properties
    properties.put("bootstrap.servers", servers)
    Using.resource(Admin.create(properties)) { admin =>
      val _ = admin.createTopics(List(new NewTopic(topic, partitions, 1.toShort)).asJava).all().get()
    }
    val settings: JMap[String, AnyRef] = Map[String, AnyRef](
      "bootstrap.servers" -> servers,
      "batch.size"        -> (256 << 10).toString,
      "linger.ms"         -> "20",
      "buffer.memory"     -> (128L << 20).toString,
      "acks"              -> "1"
    ).asJava
    Using.resource(new KafkaProducer(settings, new ByteArraySerializer, new ByteArraySerializer)) { producer =>
      val random = new Random(7)
      val values = Array.fill(256)(random.nextBytes(bytes))
      var i      = 0L
      while (i < rows) {
        val key = BigInt(i).toByteArray
        producer.send(new ProducerRecord(topic, (i % partitions).toInt, key, values((i & 255).toInt)))
        i += 1
      }
      producer.flush()
    }
  }
}
