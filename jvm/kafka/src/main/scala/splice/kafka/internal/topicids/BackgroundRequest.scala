// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.util.concurrent.{CompletableFuture, Executors}

import scala.util.Try

import org.apache.kafka.common.TopicPartition

import splice.source.internal.DaemonThread

/** Requests missing topics on another thread. A cluster that does not respond therefore does not delay records of other
  * clusters.
  */
final private[splice] class BackgroundRequest(request: TopicIds.Request) extends TopicIds.Request {

  private var requested = Option.empty[(Map[String, String], CompletableFuture[Set[String]])]

  override def apply(planned: Map[String, String]): Map[String, String] = request(planned)

  override def missing(planned: Map[String, String]): Option[Set[String]] = requested match {
    case Some((_, response)) if !response.isDone => None
    case Some((`planned`, response))             =>
      requested = None
      Some(Try(response.join()).getOrElse(Set.empty))
    case _ =>
      def response() = request.missing(planned).getOrElse(Set.empty)
      requested = Some(planned -> BackgroundRequest.start(response()))
      None
  }

  override def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = request.ends(expected)

  override def cancel(): Unit = request.cancel()
}

private[internal] object BackgroundRequest {

  private lazy val threads = Executors.newCachedThreadPool(DaemonThread.named("splice-kafka-request"))

  /** Sends a request on another thread. */
  def start[A](request: => A): CompletableFuture[A] = CompletableFuture.supplyAsync(() => request, threads)
}
