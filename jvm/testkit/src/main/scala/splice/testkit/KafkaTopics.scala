// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.time.Duration
import java.util.concurrent.ExecutionException
import java.util.concurrent.locks.LockSupport

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, NewPartitions, NewTopic, OffsetSpec}
import org.apache.kafka.common.errors.RetriableException
import org.apache.kafka.common.{KafkaFuture, TopicPartition}

import splice.testkit.internal.Patient

/** Creates topics that accept records immediately.
  *
  * A broker reports a topic before each partition has a leader. A producer that sends several requests at that time may
  * lose the first request (KAFKA-15591). The broker rejects the first request and accepts the second request. The
  * broker then never accepts the first request.
  */
object KafkaTopics {

  private val Pause = Duration.ofMillis(20)

  /** Creates a topic and waits until every partition has a leader. */
  def create(admin: Admin, topic: String, partitions: Int, config: (String, String)*): Unit = {
    val created = new NewTopic(topic, partitions, 1.toShort).configs(config.toMap.asJava)
    admin.createTopics(Seq(created).asJava).all().get()
    awaitLeaders(admin, topic, partitions)
  }

  /** Adds partitions to a topic and waits until every partition has a leader. */
  def grow(admin: Admin, topic: String, partitions: Int): Unit = {
    admin.createPartitions(Map(topic -> NewPartitions.increaseTo(partitions)).asJava).all().get()
    awaitLeaders(admin, topic, partitions)
  }

  /** Requests end offsets until the request succeeds. Only leaders return end offsets. */
  private def awaitLeaders(admin: Admin, topic: String, partitions: Int): Unit = {
    val ends = (0 until partitions).map(p => new TopicPartition(topic, p) -> OffsetSpec.latest()).toMap.asJava
    val over = System.nanoTime() + Patient.Limit.toNanos

    @tailrec def retry(): Unit = response(admin.listOffsets(ends).all()) match {
      case Some(_: RetriableException) if System.nanoTime() < over =>
        LockSupport.parkNanos(Pause.toNanos)
        retry()
      case Some(error) => throw error
      case None        => ()
    }
    retry()
  }

  private def response(future: KafkaFuture[_]): Option[Throwable] =
    try {
      future.get()
      None
    } catch { case e: ExecutionException => Some(e.getCause) }
}
