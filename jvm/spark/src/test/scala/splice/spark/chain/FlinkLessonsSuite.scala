// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.{Files, Path}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark
import splice.testkit.internal.memory.MemoryLog

/** Scenarios of defects of Flink's HybridSource: three legs, a sink that keeps the last attempt of each batch, and
  * drivers that stop at critical moments. The name of a test begins with the number of its defect.
  */
final class FlinkLessonsSuite extends AnyFunSuite with WithSpark {

  override protected def settings: Map[String, String] = super.settings + ("spark.master" -> "local[2,3]")

  private trait World {
    val name: String
    lazy val live: MemoryLog    = new MemoryLog(s"$name-live").addPartitions(2)
    lazy val oldest: MemoryLog  = new MemoryLog(s"$name-oldest").addPartitions(2)
    lazy val history: MemoryLog = new MemoryLog(s"$name-history").addPartitions(2)

    (0 until 30).foreach(i => live.append(i % 2, i.toLong))
    Seq(0, 1).foreach { p =>
      live.read(p, 0, 5).foreach(oldest.archive(p, _))
      live.read(p, 5, 10).foreach(history.archive(p, _))
    }

    def more: Map[String, String] = Map.empty

    def options: Map[String, String] = Map(
      "source"          -> "hybrid",
      "legs"            -> "oldest,history,live",
      "oldest.source"   -> "memory",
      "oldest.log"      -> oldest.name,
      "oldest.bounded"  -> "true",
      "oldest.maxRows"  -> "4",
      "history.source"  -> "memory",
      "history.log"     -> history.name,
      "history.bounded" -> "true",
      "history.maxRows" -> "4",
      "live.source"     -> "memory",
      "live.log"        -> live.name,
      "live.handOver"   -> "offsets",
      "live.maxRows"    -> "4"
    ) ++ more

    val batches = new ConcurrentHashMap[Long, Seq[Long]]

    /** The legs whose switch was decided before the end of a batch. */
    val decided = new ConcurrentHashMap[Long, Seq[String]]

    /** The number of tasks of each batch. */
    val tasks = new ConcurrentHashMap[Long, Int]

    def checkpoint: Path = folder.resolve(name)

    /** Returns the side-log entry of the switch to a leg. */
    def switch(leg: String): Path = checkpoint.resolve(s"sources/0/splice/leg-$leg/hand-over-00000000")

    /** Runs until no rows remain. `dies` selects the batches in which the driver fails before it commits the batch. */
    def run(dies: Long => Boolean = _ => false): Unit = {
      val sink: (DataFrame, Long) => Unit = { (frame, batch) =>
        batches.put(batch, frame.select("id").collect().map(_.getLong(0)).toSeq)
        decided.put(batch, Seq("history", "live").filter(leg => Files.exists(switch(leg))))
        val _ = tasks.put(batch, frame.rdd.getNumPartitions)
        if (dies(batch)) throw new IllegalStateException("the driver dies")
      }
      spark.readStream
        .format("splice")
        .options(options)
        .load()
        .writeStream
        .foreachBatch(sink)
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow())
        .start()
        .awaitTermination()
    }

    def died(batch: Long): Unit = assert(Try(run(_ == batch)).isFailure)

    def ids: Seq[Long] = batches.values.asScala.flatten.toSeq.sorted

    /** Returns the leg in which each batch of the offset log ends. */
    def legs: Seq[String] = Files
      .list(checkpoint.resolve("offsets"))
      .iterator
      .asScala
      .filter(_.getFileName.toString.forall(_.isDigit))
      .toSeq
      .sortBy(_.getFileName.toString.toInt)
      .map(Files.readString(_))
      .map(text => Seq("live", "history", "oldest").find(leg => text.contains(s"\"$leg\":")).getOrElse(""))
  }

  private def world(title: String, extra: (String, String)*): World = new World {
    override val name: String              = title
    override def more: Map[String, String] = extra.toMap
  }

  test("H1: the last task of a leg fails and is retried after all other tasks have finished") {
    val w = world("h1")
    Seq(w.oldest -> 9L, w.history -> 19L).foreach { case (log, id) => log.failOnce(id) }
    w.run()
    assert(w.oldest.requested("failed") == 1 && w.history.requested("failed") == 1)
    assert(w.ids == (0L until 30L))
    assert(w.legs.distinct == Seq("oldest", "history", "live"))
    // A switch is decided after the last batch of its leg, and not while a task may still fail.
    val expected = Map("oldest" -> Nil, "history" -> Seq("history"), "live" -> Seq("history", "live"))
    w.legs.zipWithIndex.foreach { case (leg, batch) => assert(w.decided.get(batch.toLong) == expected(leg)) }
  }

  test("H2: a restart that is killed before the end of its first batch loses no restored state") {
    val w = world("h2")
    w.died(1)
    w.died(1)
    w.died(1)
    w.run()
    assert(w.ids == (0L until 30L))
  }

  test("H3: the first leg is replayed after the side log has the hand-over to the last leg") {
    val w = world("h3")
    w.run()
    rollBack(w, to = 1)
    w.run()
    assert(w.ids == (0L until 30L))
    assert(w.history.requested("remaining") == 1)
  }

  test("H4: the second to last leg is replayed after the last leg has begun") {
    val w = world("h4")
    w.run()
    rollBack(w, to = w.legs.indexOf("history").toLong)
    w.run()
    assert(w.ids == (0L until 30L))
  }

  test("H5: a driver that repeatedly fails during a replay replays the remaining batches") {
    val w = world("h5")
    w.run()
    rollBack(w, to = 0)
    (0L to 8L).foreach(batch => Try(w.run(_ == batch)))
    w.run()
    assert(w.ids == (0L until 30L))
  }

  test("H6: many batches of all legs are replayed as one batch") {
    val w = world("h6")
    w.run()
    // Async progress tracking creates such a log: it logs offsets of some batches only, and commits less often.
    val last = w.legs.size - 1L
    w.batches.keySet.asScala.filter(_ > 0).foreach(w.batches.remove(_))
    (1L until last).foreach(batch => delete(w.checkpoint, "offsets", batch))
    (1L to last).foreach(batch => delete(w.checkpoint, "commits", batch))
    Files.move(w.checkpoint.resolve(s"offsets/$last"), w.checkpoint.resolve("offsets/1"))
    w.run()
    assert(w.batches.get(1L).sorted == (0L until 30L).diff(w.batches.get(0L)))
    assert(w.ids == (0L until 30L))
  }

  test("H9: a crash after the switch and before the first commit of the new leg keeps the start of that leg") {
    val w = world("h9")
    w.run()
    val switch = w.legs.indexOf("live").toLong
    val chosen = Files.readAllLines(w.checkpoint.resolve("sources/0/splice/leg-live/hand-over-00000000"))
    rollBack(w, to = switch)
    delete(w.checkpoint, "offsets", switch)
    (30 until 40).foreach(i => w.live.append(i % 2, i.toLong))
    w.run()
    assert(w.ids == (0L until 40L))
    assert(w.history.requested("remaining") == 1)
    assert(Files.readAllLines(w.checkpoint.resolve("sources/0/splice/leg-live/hand-over-00000000")) == chosen)
  }

  test("H11: each leg has more slots than splits") {
    val w = world("h11", "slots" -> "16")
    w.run()
    assert(w.ids == (0L until 30L))
    assert(w.tasks.values.asScala.forall(_ == 2), "a slot without a split has no task")
  }

  /** Restores the checkpoint of a driver that failed in batch `to`, after Spark logged the offset and before the
    * commit.
    */
  private def rollBack(w: World, to: Long): Unit = {
    val last = w.legs.size.toLong
    (to to last).foreach { batch =>
      delete(w.checkpoint, "commits", batch)
      w.batches.remove(batch)
      if (batch > to) delete(w.checkpoint, "offsets", batch)
    }
  }

  private def delete(checkpoint: Path, log: String, batch: Long): Unit =
    Seq(s"$batch", s".$batch.crc").foreach(name => Files.deleteIfExists(checkpoint.resolve(log).resolve(name)))
}
