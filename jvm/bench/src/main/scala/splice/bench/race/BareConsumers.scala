// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.time.Duration
import java.util.concurrent.Executors
import java.util.{Map => JMap}

import scala.concurrent.duration.Duration.Inf
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.ByteArrayDeserializer

/** Plain KafkaConsumers, one per thread, that read a topic completely and do not process the records.
  *
  * @param maxWaitMillis
  *   maximum time that a broker holds an empty fetch. With the default of the client, a consumer that has reached the
  *   end of one partition waits for this time before it receives records of other partitions
  */
final class BareConsumers(servers: String, topic: String, partitions: Int, threads: Int, maxWaitMillis: Int) {

  private val settings: JMap[String, AnyRef] = Map[String, AnyRef](
    "bootstrap.servers"         -> servers,
    "enable.auto.commit"        -> "false",
    "max.poll.records"          -> "10000",
    "fetch.max.bytes"           -> (64 << 20).toString,
    "fetch.max.wait.ms"         -> maxWaitMillis.toString,
    "max.partition.fetch.bytes" -> (4 << 20).toString,
    "receive.buffer.bytes"      -> (1 << 20).toString
  ).asJava

  def read(): Long = {
    val pool                               = Executors.newFixedThreadPool(threads)
    implicit val context: ExecutionContext = ExecutionContext.fromExecutor(pool)
    try {
      val shares = (0 until partitions).groupBy(_ % threads).values.toSeq
      Await.result(Future.sequence(shares.map(share => Future(readShare(share)))), Inf).sum
    } finally pool.shutdown()
  }

  private def readShare(share: Seq[Int]): Long =
    Using.resource(new KafkaConsumer(settings, new ByteArrayDeserializer, new ByteArrayDeserializer)) { consumer =>
      val assigned = share.map(new TopicPartition(topic, _)).asJava
      val ends     = consumer.endOffsets(assigned)
      consumer.assign(assigned)
      consumer.seekToBeginning(assigned)
      var left = ends.values.asScala.map(_.longValue).sum
      var rows = 0L
      while (left > 0) {
        val count = consumer.poll(Duration.ofSeconds(10)).count()
        rows += count
        left -= count
      }
      rows
    }
}
