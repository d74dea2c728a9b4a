// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.util.concurrent.{CompletableFuture, Executors}

import scala.util.Try

import splice.source.internal.DaemonThread

/** Requests missing topics on another thread. A cluster that does not respond therefore does not delay records of other
  * clusters.
  */
final private[splice] class BackgroundRequest(ask: TopicIds.Question) extends TopicIds.Question {

  private var asked = Option.empty[(Map[String, String], CompletableFuture[Set[String]])]

  override def apply(planned: Map[String, String]): Map[String, String] = ask(planned)

  override def missing(planned: Map[String, String]): Option[Set[String]] = asked match {
    case Some((_, answer)) if !answer.isDone => None
    case Some((`planned`, answer))           =>
      asked = None
      Some(Try(answer.join()).getOrElse(Set.empty))
    case _ =>
      def answer() = ask.missing(planned).getOrElse(Set.empty)
      asked = Some(planned -> CompletableFuture.supplyAsync(() => answer(), BackgroundRequest.threads))
      None
  }

  override def cancel(): Unit = ask.cancel()
}

private object BackgroundRequest {
  private lazy val threads = Executors.newCachedThreadPool(DaemonThread.named("splice-kafka-missing-topics"))
}
