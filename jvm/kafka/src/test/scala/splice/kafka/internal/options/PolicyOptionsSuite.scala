// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.{KafkaSource, Place}
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

/** Tests of the options for changed logs. */
final class PolicyOptionsSuite extends AnyFunSuite {

  private def settings(options: (String, String)*): KafkaSettings =
    KafkaSettings(SourceOptions(Map("kafka.bootstrap.servers" -> "one:9092", "subscribe" -> "a") ++ options))

  private def refused(options: (String, String)*): String =
    intercept[SpliceOptionException](settings(options: _*)).getMessage

  test("by default any loss is an error") {
    assert(settings().policies == LogPolicies(
      Place.Earliest,
      OutOfRange.Fail,
      TopicRecreated.Fail,
      TopicRemoved.Fail,
      Duration.ofMinutes(5)
    ))
  }

  test("each option sets its policy") {
    val all = settings(
      "newPartitionsStartAt" -> "LATEST",
      "onOutOfRange"         -> "timestamp:1700000000000",
      "onTopicRecreated"     -> "restart",
      "onTopicRemoved"       -> "drain",
      "removedRetention"     -> "2d",
      "clusterTimeout"       -> "90s"
    ).policies
    assert(all == LogPolicies(
      Place.Latest,
      OutOfRange.AtTime(1700000000000L),
      TopicRecreated.Restart,
      TopicRemoved.Drain(Duration.ofDays(2)),
      Duration.ofSeconds(90)
    ))
    assert(settings("onOutOfRange" -> "timestamp:2023-11-14T22:13:20Z").policies.outOfRange ==
      OutOfRange.AtTime(1700000000000L))
    assert(settings("onTopicRemoved" -> "Drain").policies.removed == TopicRemoved.Drain(Duration.ofDays(7)))
  }

  test("the error for an invalid value has the option, the value and the allowed values") {
    Seq(
      "newPartitionsStartAt" -> "newest",
      "onOutOfRange"         -> "timestamp:soon",
      "onTopicRecreated"     -> "ignore",
      "onTopicRemoved"       -> "keep",
      "rackFrom"             -> "env:"
    ).foreach { case (option, word) =>
      val text = refused(option -> word)
      assert(text.contains(s"'$option'") && text.contains(word), text)
    }
    assert(refused("onTopicRemoved" -> "keep").contains("fail, drain, drop"))
  }

  test("failOnDataLoss = false sets onOutOfRange = earliest and onTopicRemoved = drop, unless they are set") {
    val lenient = settings("failOnDataLoss" -> "false").policies
    assert(lenient.outOfRange == OutOfRange.Earliest && lenient.removed == TopicRemoved.Drop)
    assert(lenient.recreated == TopicRecreated.Fail)
    val own = settings("failOnDataLoss" -> "false", "onOutOfRange" -> "latest", "onTopicRemoved" -> "fail").policies
    assert(own.outOfRange == OutOfRange.Latest && own.removed == TopicRemoved.Fail)
    assert(settings("failOnDataLoss" -> "true", "onOutOfRange" -> "fail").policies == LogPolicies())
  }

  test("failOnDataLoss and onOutOfRange must not contradict each other") {
    Seq("true" -> "earliest", "true" -> "latest", "true" -> "timestamp:5", "false" -> "fail").foreach {
      case (loss, range) =>
        val text = refused("failOnDataLoss" -> loss, "onOutOfRange" -> range)
        assert(text.contains("failOnDataLoss") && text.contains("onOutOfRange"), text)
    }
  }

  test("a bounded source does not support onTopicRecreated = restart") {
    assert(refused("onTopicRecreated" -> "restart", "endingOffsets" -> "latest").contains("endingOffsets"))
  }

  test("commitToGroup and an end at committed offsets need a group") {
    assert(refused("commitToGroup" -> "true").contains("'kafka.group.id' is missing"))
    assert(refused("endingOffsets" -> "committed").contains("'kafka.group.id' is missing"))
    assert(new KafkaSource(settings("commitToGroup" -> "true", "kafka.group.id" -> "g")).commits)
    assert(!new KafkaSource(settings("kafka.group.id" -> "g")).commits)
    val ending =
      settings("endingOffsets" -> "committed", "kafka.group.id" -> "g", "onNoCommittedOffset" -> "latest").ending
    assert(ending.contains(Place.Committed(Some(Place.Latest))))
  }

  test("the rack has one source") {
    def rack(text: String) = settings("rackFrom" -> text).rackFrom.rack(Map("ZONE" -> " a ").get, Map("k.z" -> "b").get)
    assert(rack("env:ZONE").contains("a") && rack("conf:k.z").contains("b"))
    assert(rack("none").isEmpty && rack("env:NONE").isEmpty)
    assert(refused("rackFrom" -> "env:ZONE", "kafka.client.rack" -> "a").contains("kafka.client.rack"))
  }
}
