// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.Clock

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.common.acl._
import org.apache.kafka.common.resource.{PatternType, ResourcePattern, ResourceType}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.errors.SpliceException
import splice.source.log.{LogRange, Outlook}
import splice.source.{EnumeratorContext, Position, ReadMode, Source, SplitEnumerator}
import splice.testkit.LoggedMessages
import splice.testkit.internal.broker.SharedKafka

/** Tests with a user whose permissions on topics change, with a real broker. */
final class RealAccessSuite extends AnyFunSuite {

  import SharedKafka.{Password, User}

  private lazy val real = new RealLog(SharedKafka.east)

  private val login =
    s"""org.apache.kafka.common.security.plain.PlainLoginModule required username="$User" password="$Password";"""

  private def source(options: (String, String)*): Source[_ <: Position] = real.source(
    Seq(
      "kafka.bootstrap.servers" -> SharedKafka.east.loginServers,
      "kafka.security.protocol" -> "SASL_PLAINTEXT",
      "kafka.sasl.mechanism"    -> "PLAIN",
      "kafka.sasl.jaas.config"  -> login,
      "startingOffsets"         -> "earliest"
    ) ++ options: _*
  )

  private def outlook(topic: String): Outlook = {
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "outlook")
    Using.resource(SplitEnumerator.untyped(source("subscribe" -> topic), context))(_.outlook())
  }

  private def right(topic: String, operation: AclOperation): AclBinding = new AclBinding(
    new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
    new AccessControlEntry(s"User:$User", "*", operation, AclPermissionType.ALLOW)
  )

  private def revoke(topic: String, operations: AclOperation*): Unit = {
    val rights = operations.map(right(topic, _).toFilter)
    real.admin(_.deleteAcls(rights.asJava).all().get())
    // A broker applies an ACL with a delay.
    real.eventually("the ACLs deny reads")(Try(outlook(topic)).isFailure)
  }

  private def allow(topic: String): Unit = {
    val rights = Seq(AclOperation.READ, AclOperation.DESCRIBE).map(right(topic, _))
    real.admin(_.createAcls(rights.asJava).all().get())
    real.eventually("the ACLs permit reads")(Try(outlook(topic)).isSuccess)
  }

  /** Creates topics with five records each, which the user may read. */
  private def create(topics: String*): Unit = topics.foreach { topic =>
    real.create(topic, 1)
    real.write(topic, 1, 0, 5)
    allow(topic)
  }

  test("a topic without the read permission is an error before a record is read") {
    create("forbidden")
    val open = outlook("forbidden").logs
    assert(open.map { case (p, log) => (p.toString, log.range) }.toSeq == Seq("forbidden-0" -> LogRange(0, 5)))
    assert(open.values.forall(_.first.nonEmpty))
    revoke("forbidden", AclOperation.READ)
    val error = intercept[SpliceException](outlook("forbidden"))
    assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR")
    Seq("forbidden", "Not authorized", SharedKafka.east.loginServers)
      .foreach(words => assert(error.getMessage.contains(words)))
    allow("forbidden")
    assert(outlook("forbidden").logs == open)
  }

  test("a revoked permission fails a query with a topic list under every policy, and the error names both causes") {
    create("named", "granted")
    real.run(source("subscribe" -> "named,granted", "onTopicRemoved" -> "drop", "failOnDataLoss" -> "false")) { c =>
      val from = real.all(c, c.initial())
      revoke("named", AclOperation.READ, AclOperation.DESCRIBE)
      val error = intercept[SpliceException](real.eventually("an error") {
        real.all(c, from)
        false
      })
      assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR")
      Seq("named", "Not authorized", "the right were deleted together")
        .foreach(words => assert(error.getMessage.contains(words)))
      allow("named")
      real.eventually("the query can continue")(Try(real.all(c, from)).isSuccess)
    }
  }

  test("a query with a pattern treats a revoked permission as a removed topic, and the warning names both causes") {
    create("hidden", "shown")
    real.run(source("subscribePattern" -> "^(hidden|shown)$", "onTopicRemoved" -> "drain")) { c =>
      val from                                         = real.all(c, c.initial())
      def reach(at: Position, topic: String, end: Int) = real.until(c, at)(_.json.contains(s""""$topic":{"0":$end}"""))
      revoke("hidden", AclOperation.READ, AclOperation.DESCRIBE)
      real.write("shown", 1, 5, 8)
      val (at, reported) = LoggedMessages.during("splice.kafka") {
        val one = reach(from, "shown", 8)
        real.eventually("the policy applies")(c.figures(real.all(c, one))("splits") == "1")
        one
      }
      assert(reported.count(m => m.contains("hidden-0") && m.contains("no longer authorized")) == 1, reported)
      real.write("hidden", 1, 5, 9)
      allow("hidden")
      // No record is lost after the permission is granted again.
      reach(at, "hidden", 9)
    }
  }
}
