// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.streams.fake.{FakeLog, FakeProvider}

/** A Spark stream as the first leg of a query that changes its trigger. */
final class StreamLegSuite extends AnyFunSuite with LiveQueries {

  private def chain(topic: String, trigger: Trigger): StreamingQuery = startFrame(
    spark.readStream.format("splice-hybrid").options(Map(
      "legs"                         -> "before,live",
      "before.source"                -> "stream",
      "before.format"                -> FakeProvider.Format,
      "before.log"                   -> topic,
      "before.bounded"               -> "true",
      "before.select"                -> s"'$topic' as topic, cast(id as string) as value",
      "live.source"                  -> "kafka",
      "live.kafka.bootstrap.servers" -> broker.servers,
      "live.subscribe"               -> topic,
      "live.startingOffsets"         -> "earliest",
      "live.select"                  -> "topic, cast(value as string) as value"
    )).load(),
    topic,
    trigger
  )

  test(
    "real-time and continuous mode reject a stream by the name of its leg, and read the chain after the leg has ended"
  ) {
    val topic = "after-a-stream"
    new FakeLog(topic).grow(10)
    create(topic, 1)
    write(topic, 0, Seq("first"))
    val timed = failure(chain(topic, Trigger.RealTime("1 second")))
    assert(timed.contains("[SPLICE_REAL_TIME.LEG_NOT_SUPPORTED]") && timed.contains("'stream' source of leg 'before'"))
    val endless = failure(chain(topic, continuous))
    assert(endless.contains("[SPLICE_CONTINUOUS.LEG_NOT_SUPPORTED]") && endless.contains("of leg 'before'"))
    chain(topic, Trigger.AvailableNow()).awaitTermination()
    val before = (0 to 9).map(_.toString) :+ "first"
    whole(topic, before)
    FakeLog(topic).remove()
    Seq(Trigger.RealTime("1 second") -> "second", continuous -> "third").foreach { case (trigger, value) =>
      write(topic, 0, Seq(value))
      val query = chain(topic, trigger)
      eventually(assert(values(topic).contains(value)))
      if (value == "second") stopAfterBatch(query) else stop(query)
    }
    whole(topic, before ++ Seq("second", "third"))
  }
}
