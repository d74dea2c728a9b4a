// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import java.nio.file.Files

import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.LoggedMessages

/** Queries that continue in another mode of Spark, or after a kill between the offset and the commit of a batch. */
final class TriggerChangeSuite extends AnyFunSuite with LiveQueries {

  import LiveQueries._

  private def remove(topic: String, log: String, batch: Long): Unit = checkpoint(topic).resolve(log).toFile.listFiles()
    .filter(file => file.getName == s"$batch" || file.getName.stripPrefix(".").startsWith(s"$batch."))
    .foreach(file => Files.delete(file.toPath))

  /** Changes the checkpoint to the state after a kill of the driver between the rows and the commit of a batch. The
    * rows of the batch are also removed.
    */
  private def kill(topic: String): Unit = {
    val log = logged(topic)
    // Removes epochs without rows.
    while (log.end(newest(topic, "offsets")) == log.end(newest(topic, "offsets") - 1)) {
      val last = newest(topic, "offsets")
      Seq("commits", "offsets").foreach(remove(topic, _, last))
    }
    val last = newest(topic, "offsets")
    remove(topic, "commits", last)
    assert(log.uncommitted() == Seq(last))
    val until = """"(\d+)":(\d+)""".r.findAllMatchIn(log.committed().get).map(m => m.group(1) -> m.group(2).toInt).toMap
    assert(seen.removeIf { case (of, value) =>
      of == topic && value.drop(2).toInt >= until.getOrElse(value.take(1), 0)
    })
  }

  /** Sets the end of the last epoch far after the rows that any other run reads in the epoch of the same number. */
  private def advance(topic: String): Unit = {
    val last = newest(topic, "offsets")
    remove(topic, "offsets", last)
    Files.writeString(checkpoint(topic).resolve(s"offsets/$last"), s"""v1\n\n{"$topic":{"0":1000,"1":1000}}""")
  }

  test("continuous mode continues after other triggers and reads each row once, and Spark rejects the reverse") {
    create("modes", 3)
    def all(until: Int)                          = (0 until 3).flatMap(p => numbers(p, 0 until until))
    def live(until: Int, trigger: Trigger): Unit = {
      (0 until 3).foreach(p => write("modes", p, numbers(p, until - 50 until until)))
      val query = start("modes", trigger)
      whole("modes", all(until))
      stopAt(query, "modes", until.toLong, until.toLong, until.toLong)
    }
    live(50, Trigger.AvailableNow())
    live(100, Trigger.RealTime("1 second"))
    live(150, Trigger.ProcessingTime(0))
    live(200, continuous)
    live(250, continuous)
    Seq(Trigger.AvailableNow(), Trigger.RealTime("1 second")).foreach { other =>
      val message = failure(start("modes", other))
      assert(message.contains("[SPLICE_CONTINUOUS.TRIGGER_NOT_SUPPORTED]") &&
        message.contains("""{"modes":{"0":250,"1":250,"2":250}}"""))
    }
    live(300, continuous)
    assert(values("modes") == all(300).sorted)
  }

  for {
    (first, before) <-
      Seq("now" -> Trigger.AvailableNow(), "timed" -> Trigger.RealTime("1 second"), "cont" -> continuous)
    (second, after) <-
      Seq("now" -> Trigger.AvailableNow(), "timed" -> Trigger.RealTime("1 second"), "cont" -> continuous)
    // Spark cannot continue with another trigger after continuous mode.
    if first != "cont" || second == "cont"
  } test(s"no row is lost if $first is killed before it commits a batch, and $second continues") {
    val topic = s"$first-$second"
    create(topic, 2)
    def next(range: Range): Unit                 = (0 until 2).foreach(p => write(topic, p, numbers(p, range)))
    def read(until: Int, trigger: Trigger): Unit = {
      val query = start(topic, trigger)
      eventually(assert(values(topic).toSet == (0 until 2).flatMap(p => numbers(p, 0 until until)).toSet))
      stopAt(query, topic, until.toLong, until.toLong)
    }
    next(0 until 20)
    read(20, before)
    next(20 until 50)
    read(50, before)
    kill(topic)
    val killed = newest(topic, "offsets")
    if (first == "cont") advance(topic)
    next(50 until 60)
    if (second == "cont" && first != "cont") {
      assert(failure(start(topic, continuous)).contains("[SPLICE_CONTINUOUS.UNCOMMITTED_BATCH]"))
      start(topic, Trigger.AvailableNow()).awaitTermination()
    }
    val (_, messages) = LoggedMessages.during("splice.spark")(read(60, after))
    val again         = s"Real-time mode plans batch $killed again, because the batch was not committed."
    assert(messages.count(_ == again) == (if (second == "timed") 1 else 0))
    // Simulates a kill after the epoch of the same number. The next epoch must not begin at the end of the first run.
    if (first == "cont") for { log <- Seq("commits", "offsets"); batch <- killed + 1 to newest(topic, log) }
      remove(topic, log, batch)
    next(60 until 70)
    read(70, after)
  }
}
