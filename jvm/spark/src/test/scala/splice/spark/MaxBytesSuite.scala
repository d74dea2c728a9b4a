// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.ByteArraySerializer
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.KafkaTopics
import splice.testkit.internal.broker.SharedKafka

/** Readers report the sizes of records to the driver. */
final class MaxBytesSuite extends AnyFunSuite with WithSpark {

  private lazy val broker = SharedKafka.east

  test("maxBytesPerTrigger: a small first batch, then about as many bytes as allowed") {
    Using.resource(broker.admin())(KafkaTopics.create(_, "sized", 2))
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[ByteArraySerializer].getName,
      "value.serializer"  -> classOf[ByteArraySerializer].getName
    )
    Using.resource(new KafkaProducer[Array[Byte], Array[Byte]](settings.asJava)) { out =>
      (0 until 10000).foreach(i =>
        out.send(new ProducerRecord("sized", i % 2, new Array[Byte](0), new Array[Byte](1024)))
      )
      out.flush()
    }
    val query = spark.readStream
      .format("splice-kafka")
      .option("kafka.bootstrap.servers", broker.servers)
      .option("subscribe", "sized")
      .option("startingOffsets", "earliest")
      .option("maxBytesPerTrigger", "1m")
      .load()
      .writeStream
      .format("noop")
      .option("checkpointLocation", folder.resolve("sized").toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
    val rows = query.recentProgress.map(_.numInputRows).filter(_ > 0).toSeq
    assert(rows.sum == 10000)
    assert(rows.head == 64, "the assumed size of a record is 16 KiB until a reader reports sizes")
    assert(rows.drop(1).dropRight(1).forall(n => n >= 1000 && n <= 1024), rows)
  }
}
