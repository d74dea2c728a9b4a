// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.{at, range}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.{Limits, SplitEnumerator, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of brokers that return no cluster id, or return the id only sometimes. */
final class IdentitySuite extends AnyFunSuite {

  private def run: SimulatedRun = {
    val run = new SimulatedRun("startingOffsets" -> "earliest")
    run.log.create("t", 1)
    run.log.fill("t", 0, 5)
    run.log.clusterId = None
    run
  }

  private def read(enumerator: SplitEnumerator[KafkaPosition], from: KafkaPosition): KafkaPosition =
    enumerator.advance(from, Limits.Everything)

  test("a cluster without an id is read, including after a restart") {
    val lived = run
    val first = lived.start()
    assert(read(first, first.start(StartPosition.Configured)) == at(0 -> 5L))
    lived.log.fill("t", 0, 2)
    val second = lived.start()
    assert(read(second, at(0 -> 5L)) == at(0 -> 7L))
    assert(second.splits(at(0 -> 5L), at(0 -> 7L)) == Seq(range(0, 5, 7)))
    assert(lived.side.keys("identity-").flatMap(lived.side.get).flatten.forall(!_.contains("cluster")))
  }

  test("a cluster id that is returned later is kept, even if some responses lack the id") {
    val lived = run
    val first = lived.start()
    val _     = read(first, first.start(StartPosition.Configured))
    lived.log.clusterId = Some("cluster-a")
    lived.log.fill("t", 0, 1)
    assert(read(lived.start(), at(0 -> 5L)) == at(0 -> 6L))
    lived.log.clusterId = None
    lived.log.fill("t", 0, 1)
    assert(read(lived.start(), at(0 -> 6L)) == at(0 -> 7L))
    lived.log.clusterId = Some("cluster-b")
    val error = intercept[SpliceException](read(lived.start(), at(0 -> 7L)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.OTHER_CLUSTER")
  }

  test("a start that selects no topic of the checkpoint is an error, or a warning without failOnDataLoss") {
    val lived = new SimulatedRun("subscribe" -> "t,u", "startingOffsets" -> "earliest")
    Seq("t", "u").foreach { topic =>
      lived.log.create(topic, 1)
      lived.log.fill(topic, 0, 5)
    }
    val stored                            = at(0 -> 3L)
    def other(options: (String, String)*) =
      lived.start(own = new SimulatedRun(options :+ ("subscribe" -> "u"): _*).settings)
    val error = intercept[SpliceException](read(other(), stored))
    assert(error.getCondition == "SPLICE_KAFKA_OPTION.TOPICS_REPLACED" && error.getMessage.contains("topics t,"))
    val (until, warnings) =
      LoggedMessages.during(classOf[Topics].getName)(read(other("failOnDataLoss" -> "false"), stored))
    assert(until.topics == Set("t", "u") && warnings.size == 1)
    assert(read(lived.start(own = new SimulatedRun("subscribe" -> "t,u").settings), stored).topics == Set("t", "u"))
  }

  test("a recreated topic is detected by its topic id on a cluster without an id") {
    val lived = run
    val first = lived.start()
    val _     = read(first, first.start(StartPosition.Configured))
    lived.log.delete("t")
    lived.log.create("t", 1)
    lived.log.fill("t", 0, 9)
    val error = intercept[SpliceException](read(lived.start(), at(0 -> 5L)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
  }
}
