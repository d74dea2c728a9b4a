// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.util.concurrent.TimeUnit

import scala.concurrent.TimeoutException
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.KafkaFuture
import org.slf4j.LoggerFactory

import splice.kafka.internal.split.TopicPartitions
import splice.source.LogPartition

/** Commits offsets to a consumer group in the background. While a commit is running, only the last requested offsets
  * wait for the next commit. Thread-safe.
  */
final private[splice] class GroupCommitter(admin: Admin, group: String) extends AutoCloseable {

  import GroupCommitter._

  private var running: Option[KafkaFuture[Void]]       = None
  private var waiting: Option[Map[LogPartition, Long]] = None
  private var done: Map[LogPartition, Long]            = Map.empty
  private var hasFailed                                = false
  private var closed                                   = false

  /** Starts a commit of offsets that are not committed. */
  def apply(offsets: Map[LogPartition, Long]): Unit = synchronized {
    val news = offsets.filterNot { case (p, offset) => done.get(p).contains(offset) }
    if (!closed && news.nonEmpty) {
      waiting = Some(offsets)
      if (running.isEmpty) send()
    }
  }

  /** Waits for a short time until all offsets are committed. Returns false if some are not. */
  def flush(): Boolean = {
    val end = System.nanoTime() + FlushNanos
    Iterator.continually(synchronized(running)).takeWhile(_.nonEmpty && System.nanoTime() < end).flatten.foreach {
      commit =>
        try { val _ = commit.get(end - System.nanoTime(), TimeUnit.NANOSECONDS) }
        catch {
          case _: TimeoutException     => logger.warn(s"Splice did not commit all offsets to the group $group in time.")
          case e: InterruptedException => throw e
          case NonFatal(_)             => () // `finished` has logged a warning.
        }
    }
    synchronized(running.isEmpty && !hasFailed)
  }

  /** Waits for a short time until all offsets are committed. */
  override def close(): Unit = {
    val _ = flush()
    synchronized { closed = true }
  }

  private def send(): Unit = waiting.foreach { offsets =>
    val commit =
      admin.alterConsumerGroupOffsets(
        group,
        offsets.map { case (p, offset) => TopicPartitions.of(p) -> new OffsetAndMetadata(offset) }.asJava
      ).all()
    waiting = None
    running = Some(commit)
    val _ = commit.whenComplete((_, error) => finished(offsets, Option(error)))
  }

  private def finished(offsets: Map[LogPartition, Long], error: Option[Throwable]): Unit = synchronized {
    hasFailed = error.nonEmpty
    error match {
      case None    => done = offsets
      case Some(e) =>
        logger.warn(
          s"The commit of offsets to the group $group failed. The next batch repeats the commit. Reason: ${e.getMessage}"
        )
    }
    running = None
    if (!closed) send()
  }
}

private[splice] object GroupCommitter {

  private val logger = LoggerFactory.getLogger(classOf[GroupCommitter])

  private val FlushNanos = TimeUnit.SECONDS.toNanos(5)
}
