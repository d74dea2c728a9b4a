// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.time.Clock

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog
import splice.source._
import splice.testkit.KafkaBroker

/** The start that a hand-over by offsets chose, against a real broker. */
final class RealHandOverSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start()
  private lazy val real   = new RealLog(broker)

  override protected def afterAll(): Unit = broker.close()

  private def start(source: Source[_ <: Position], wanted: StartPosition): Position = {
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "hand-over")
    Using.resource(source.enumerator(context))(_.start(wanted))
  }

  private def wanted(topic: String, onGap: OnGap, firstAndNext: (Long, Long)*): StartPosition = {
    val all = SortedMap.from(firstAndNext.zipWithIndex.map { case (range, p) => LogPartition(topic, p) -> range })
    StartPosition.Offsets(
      all.map { case (p, range) => p -> range._2 },
      onGap,
      all.map { case (p, range) =>
        p -> range._1
      }
    )
  }

  test("records before the history are an error if a reader gets them, and aborted ones are not records") {
    real.create("prefix", 2)
    Using.resource(real.producer("transactional.id" -> "prefix")) { out =>
      // An abort drops records that are not sent yet.
      def send(partition: Int): Unit = {
        (0 until 10).foreach(i => out.send(new ProducerRecord("prefix", partition, s"k$i", s"v$i")))
        out.flush()
      }
      out.initTransactions()
      out.beginTransaction()
      send(0)
      out.abortTransaction()
      out.beginTransaction()
      send(0)
      send(1)
      out.commitTransaction()
    }
    // Partition 0 has 10 aborted records and a marker, then 10 records; partition 1 has 10 records.
    val source    = real.source("subscribe" -> "prefix", "kafka.isolation.level" -> "read_committed")
    val unguarded = real.source("subscribe" -> "prefix")
    // Brokers write the markers of a commit after they confirmed it.
    real.eventually("the markers")(start(source, StartPosition.Configured).json == """{"prefix":{"0":22,"1":11}}""")
    val late  = wanted("prefix", OnGap.Fail, 11L -> 21L, 5L -> 10L)
    val error = intercept[SpliceException](start(source, late))
    assert(error.getCondition == "SPLICE_KAFKA.BEFORE_HISTORY")
    assert(error.getMessage.contains("prefix-1 [0, 5)") && !error.getMessage.contains("prefix-0"), error.getMessage)
    assert(start(source, wanted("prefix", OnGap.Warn, 11L -> 21L, 5L -> 10L)).json == """{"prefix":{"0":21,"1":10}}""")
    assert(start(source, wanted("prefix", OnGap.Fail, 11L -> 21L, 0L -> 10L)).json == """{"prefix":{"0":21,"1":10}}""")
    val aborted = intercept[SpliceException](start(unguarded, wanted("prefix", OnGap.Fail, 11L -> 21L, 0L -> 10L)))
    assert(aborted.getMessage.contains("prefix-0 [0, 11)"), aborted.getMessage)
  }
}
