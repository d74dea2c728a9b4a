// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.nio.charset.StandardCharsets.US_ASCII
import java.time.Duration
import java.util.concurrent.Executors
import java.util.{Map => JMap}

import scala.concurrent.duration.Duration.Inf
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.ByteArrayDeserializer

import splice.bench.KafkaLoad

/** Copies a topic with plain clients until `stop()`. Each thread has one consumer, and all threads share one producer.
  * The value of a copy is the timestamp of its record.
  */
final class BareCopy(servers: String, from: String, partitions: Int, to: String, threads: Int) {

  private val Idle = Duration.ofMillis(100)

  private val settings: JMap[String, AnyRef] = Map[String, AnyRef](
    "bootstrap.servers"  -> servers,
    "enable.auto.commit" -> "false"
  ).asJava

  private val pool = Executors.newFixedThreadPool(threads)

  @volatile private var isStopped = false

  private val copies = {
    implicit val context: ExecutionContext = ExecutionContext.fromExecutor(pool)
    val producer                           = new KafkaLoad(servers).producer("none", lingerMillis = 0)
    val shares                             = (0 until partitions).groupBy(_ % threads).values.toSeq
    Future.sequence(shares.map(share => Future(copy(share, producer)))).andThen(_ => producer.close())
  }

  /** Stops all threads. The producer then has sent all copies. */
  def stop(): Unit = {
    isStopped = true
    try { val _ = Await.result(copies, Inf) }
    finally pool.shutdown()
  }

  private def copy(share: Seq[Int], producer: KafkaProducer[Array[Byte], Array[Byte]]): Unit =
    Using.resource(new KafkaConsumer(settings, new ByteArrayDeserializer, new ByteArrayDeserializer)) { consumer =>
      val assigned = share.map(new TopicPartition(from, _)).asJava
      consumer.assign(assigned)
      consumer.seekToBeginning(assigned)
      while (!isStopped)
        consumer.poll(Idle).forEach { record =>
          val _ = producer.send(new ProducerRecord(to, record.timestamp.toString.getBytes(US_ASCII)))
        }
    }
}
