// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.Clock

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.common.acl._
import org.apache.kafka.common.resource.{PatternType, ResourcePattern, ResourceType}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.errors.SpliceException
import splice.source.log.{LogRange, Outlook}
import splice.source.{EnumeratorContext, ReadMode, SplitEnumerator}
import splice.testkit.KafkaBroker

/** Tests of outlooks with a real broker and access control. */
final class RealOutlookSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start(
    "authorizer.class.name"          -> "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found" -> "true"
  )
  private lazy val real = new RealLog(broker)

  override protected def afterAll(): Unit = broker.close()

  private def outlook(topic: String): Outlook = {
    val source  = real.source("subscribe" -> topic)
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "outlook")
    Using.resource(SplitEnumerator.untyped(source, context))(_.outlook())
  }

  /** Grants the clients of the tests one operation on a topic. */
  private def allow(topic: String, operation: AclOperation): Unit = real.admin { client =>
    val entry = new AccessControlEntry("User:ANONYMOUS", "*", operation, AclPermissionType.ALLOW)
    val on    = new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL)
    val _     = client.createAcls(Seq(new AclBinding(on, entry)).asJava).all().get()
  }

  test("a topic without the read permission is an error before a record is read") {
    real.create("secret", 1)
    real.write("secret", 1, 0, 3)
    val open = outlook("secret").logs
    assert(open.map { case (p, log) => (p.toString, log.range) }.toSeq == Seq("secret-0" -> LogRange(0, 3)))
    assert(open.values.forall(_.first.nonEmpty))
    allow("secret", AclOperation.DESCRIBE)
    // A broker applies an ACL with a delay.
    real.eventually("the ACL denies reads")(Try(outlook("secret")).isFailure)
    val error = intercept[SpliceException](outlook("secret"))
    assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR")
    Seq("secret", "Not authorized", broker.servers).foreach(words => assert(error.getMessage.contains(words)))
    allow("secret", AclOperation.READ)
    real.eventually("the ACL permits reads")(Try(outlook("secret")).isSuccess)
    assert(outlook("secret").logs == open)
  }
}
