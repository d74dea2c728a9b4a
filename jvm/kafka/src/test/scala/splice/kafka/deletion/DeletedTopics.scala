// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import java.time.Duration

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.{Failure, Success, Try}

import splice.coordinator.internal.Coordinator
import splice.kafka.ClientMetrics
import splice.kafka.broker.RealLog
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Position, ReadMode, Source}
import splice.testkit.internal.broker.SharedKafka

/** Combination of `onTopicRemoved` and `failOnDataLoss`. */
final private[kafka] case class RemovalPolicy(removed: String, failOnDataLoss: Boolean) {

  def fails: Boolean = removed == "fail"

  def keepsPosition: Boolean = removed == "drain" || removed.startsWith("keep")

  /** Client id of a query with this policy. The id has no topic name, because tests search for topic names in
    * messages.
    */
  def client(topics: String*): String =
    s"${removed.filter(_.isLetter)}-$failOnDataLoss-${topics.mkString(",").hashCode.toHexString}"
}

/** Helpers for topics that are deleted during a query, with each combination of `onTopicRemoved` and
  * `failOnDataLoss`. The timeouts of the clients are Kafka's defaults.
  */
private[kafka] trait DeletedTopics {

  protected lazy val real = new RealLog(SharedKafka.east)

  // Less than kafkaConsumer.pollTimeoutMs and kafka.default.api.timeout.ms.
  protected val within: Duration = Duration.ofSeconds(50)

  protected def options(policy: RemovalPolicy, topics: String*): Seq[(String, String)] =
    ClientMetrics.options(policy.client(topics: _*)) ++ Seq(
      "subscribe"       -> topics.mkString(","),
      "startingOffsets" -> "earliest",
      "onTopicRemoved"  -> policy.removed,
      "failOnDataLoss"  -> policy.failOnDataLoss.toString
    )

  protected def source(policy: RemovalPolicy, topics: String*): Source[_ <: Position] =
    real.source(options(policy, topics: _*): _*)

  protected val policies: Seq[RemovalPolicy] = for {
    removed <- Seq("fail", "drain", "drop")
    fails   <- Seq(true, false)
  } yield RemovalPolicy(removed, fails)

  /** Runs all policies concurrently, because most of the time is spent waiting. */
  protected def atOnce[A, B](of: Seq[A])(use: A => B): Seq[B] = {
    implicit val threads: ExecutionContext = ExecutionContext.global
    Await.result(Future.traverse(of)(one => Future(scala.concurrent.blocking(use(one)))), 100.seconds)
  }

  /** Creates topics with five records each. */
  protected def create(topics: String*): Unit = topics.foreach { topic =>
    real.create(topic, 1)
    real.write(topic, 1, 0, 5)
  }

  protected def condition(of: Try[_]): Option[String] = of match {
    case Failure(e: SpliceException) => Some(e.getCondition)
    case Failure(e)                  => throw e
    case Success(_)                  => None
  }

  /** Advances until the position of a topic has the given end. */
  protected def reach(c: Coordinator, from: Position, topic: String, end: Int): Position =
    real.until(c, from, within)(_.json.contains(s""""$topic":{"0":$end}"""))

  /** Returns the result of `use`, the number of requests of the clients of a query during `use`, and the duration in
    * seconds.
    */
  protected def counted[A](id: String)(use: => A): (A, Long, Double) = {
    val (before, begin) = (ClientMetrics.requests(id), System.nanoTime())
    val result          = use
    (result, ClientMetrics.requests(id) - before, (System.nanoTime() - begin) / 1e9)
  }

  protected def context(log: SideLog): EnumeratorContext =
    EnumeratorContext(log, ReadMode.Stream, java.time.Clock.systemUTC(), 1, java.util.UUID.randomUUID().toString)
}
