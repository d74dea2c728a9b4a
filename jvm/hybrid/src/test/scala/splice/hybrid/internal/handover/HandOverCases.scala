// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.collection.mutable
import scala.util.Random

import splice.hybrid.internal.chain.OnHoles
import splice.source.LogPartition
import splice.source.options.FailOrWarn

/** Random histories and logs, with the expected results. */
private[hybrid] object HandOverCases {

  val Worlds = 12000

  /** Minimum number of occurrences of each case, policy and pair. */
  val Often = 20

  type Row = (LogPartition, Long)

  /** Partition of a log.
    *
    * @param ever
    *   all offsets that ever had a readable record
    * @param records
    *   remaining offsets. Retention removed offsets before `earliest`, and compaction removed some later offsets
    */
  final case class Log(partition: LogPartition, ever: Set[Long], records: Set[Long], earliest: Long, end: Long)

  final case class World(
      archives: Seq[Seq[Row]],
      logs: Seq[Log],
      onHoles: OnHoles,
      onGap: FailOrWarn,
      onDuplicates: FailOrWarn,
      excluded: Set[Int]
  ) {

    /** Rows of archives of the log. */
    def counted: Seq[Seq[Row]] = archives.zipWithIndex.collect { case (rows, i) if !excluded(i) => rows }

    def policies: Seq[String] = Seq(s"onHoles $onHoles", s"onGap $onGap", s"onDuplicates $onDuplicates")
  }

  object World {

    val Policies: Seq[String] = Seq(OnHoles.Fill, OnHoles.Fail, OnHoles.Ignore).map(p => s"onHoles $p") ++
      Seq(FailOrWarn.Fail, FailOrWarn.Warn).map(p => s"onGap $p") ++
      Seq(FailOrWarn.Fail, FailOrWarn.Warn).map(p => s"onDuplicates $p")

    def random(random: Random): World = {
      def oneIn(n: Int)         = random.nextInt(n) == 0
      def oneOf[A](all: Seq[A]) = all(random.nextInt(all.size))
      val markers               = oneIn(3)
      val compacted             = oneIn(4)
      val partitions            = (0 to random.nextInt(3)).map(LogPartition("t", _))
      val ends                  = partitions.map(p => p -> random.nextInt(40).toLong).toMap
      val ever                  = partitions.map(p => p -> (0L until ends(p)).filterNot(_ => markers && oneIn(5))).toMap
      val count                 = 1 + random.nextInt(4)
      val kind                  = random.nextInt(5)
      def part(p: LogPartition, i: Int): Seq[Long] = {
        val all  = ever(p)
        val size = all.size / count + 1
        val own  = kind match {
          case 0 => all.slice(i * size, (i + 1) * size)
          case 1 => all.slice(random.nextInt(all.size + 1), random.nextInt(all.size + 1))
          case 2 => all.slice(i * size, (i + 1) * size).filterNot(_ => oneIn(8))
          case 3 => all.slice(i * size, (i + 1) * size + random.nextInt(3))
          case _ => all.slice(i * size + random.nextInt(2), (i + 1) * size).take(all.size * 2 / 3)
        }
        if (oneIn(4)) Nil else if (oneIn(12)) own ++ own.take(1 + random.nextInt(2)) else own
      }
      val archives = (0 until count).map { i =>
        for { p <- random.shuffle(partitions); offset <- part(p, i) } yield p -> offset
      }
      val logs = partitions.filterNot(_ => oneIn(60)).map { p =>
        val archived = archives.flatten.filter(_._1 == p).map(_._2 + 1).maxOption.getOrElse(0L)
        val earliest = random.nextInt(4) match {
          case 0 => math.min(ends(p), random.nextInt(ends(p).toInt + 1).toLong)
          case 1 => math.min(ends(p), archived)
          case _ => 0L
        }
        val end  = if (oneIn(40)) math.max(earliest, archived - 1) else ends(p)
        val left = ever(p).filter(o => o >= earliest && o < end).filterNot(_ => compacted && oneIn(4))
        Log(p, ever(p).toSet, left.toSet, earliest, end)
      }
      World(
        archives,
        logs,
        oneOf(Seq(OnHoles.Fill, OnHoles.Fail, OnHoles.Ignore)),
        oneOf(Seq(FailOrWarn.Fail, FailOrWarn.Warn)),
        oneOf(Seq(FailOrWarn.Fail, FailOrWarn.Warn)),
        (1 until count).filter(_ => oneIn(8)).toSet
      )
    }
  }

  /** Expected result of a case.
    *
    * @param rejection
    *   condition and parts of the message of the expected error
    * @param cases
    *   names of the cases that occur
    */
  final case class Expected(world: World, rejection: Option[(String, Seq[String])], cases: Set[String]) {

    /** Expected rows, if the hand-over is accepted. */
    def rows(log: Log): Seq[Long] = {
      val copies = world.counted.flatten.filter(_._1 == log.partition).map(_._2)
      val ended  = copies.maxOption
      val others = world.archives.flatten.filter(_._1 == log.partition).map(_._2)
      val ofLog  = log.records.toSeq.filter { offset =>
        ended.forall(offset > _) || (!copies.contains(offset) && world.onHoles == OnHoles.Fill)
      }
      others ++ ofLog
    }
  }

  object Expected {

    val Cases: Seq[String] = Seq(
      "history and log fit",
      "the log supplies offsets within the history",
      "the log supplies offsets before the history",
      "a partition is in some archives only",
      "a partition is in no archive",
      "a partition is in no archive and its log begins later",
      "the log has a part of the holes",
      "the log begins after the end of the history",
      "copies in one archive",
      "copies in two archives",
      "a partition is not in the log",
      "the history ends after the log",
      "an archive is excluded"
    )

    def apply(world: World): Expected = {
      val copies = world.counted.flatten
      val cases  = mutable.Set.empty[String]
      if (world.excluded.nonEmpty) cases += "an archive is excluded"
      val gone       = mutable.Map.empty[LogPartition, Seq[Long]]
      val fillable   = mutable.Map.empty[LogPartition, Seq[Long]]
      val partitions = copies.map(_._1).distinct
      val foreign    = partitions.filterNot(p => world.logs.exists(_.partition == p))
      if (foreign.nonEmpty) cases += "a partition is not in the log"
      val ahead = world.logs.filter(log => copies.exists { case (p, o) => p == log.partition && o >= log.end })
      if (ahead.nonEmpty) cases += "the history ends after the log"
      world.logs.foreach { log =>
        val own = copies.collect { case (log.partition, offset) => offset }
        if (own.isEmpty) {
          cases += "a partition is in no archive"
          if (log.earliest > 0) cases += "a partition is in no archive and its log begins later"
          gone(log.partition) = 0L until log.earliest
        } else {
          val have            = own.toSet
          val missing         = (0L until own.max).filterNot(have)
          val (removed, left) = missing.partition(_ < log.earliest)
          fillable(log.partition) = left
          val lostAfter = (own.max + 1) until log.earliest
          gone(log.partition) = (if (world.onHoles == OnHoles.Ignore) Nil else removed) ++ lostAfter
          if (missing.isEmpty && lostAfter.isEmpty) cases += "history and log fit"
          if (left.exists(_ < own.min)) cases += "the log supplies offsets before the history"
          if (left.exists(_ > own.min)) cases += "the log supplies offsets within the history"
          if (left.nonEmpty && removed.nonEmpty) cases += "the log has a part of the holes"
          if (lostAfter.nonEmpty) cases += "the log begins after the end of the history"
          if (world.counted.exists(a => !a.exists(_._1 == log.partition)))
            cases += "a partition is in some archives only"
        }
      }
      val within  = world.counted.exists(a => a.distinct.size < a.size)
      val between = world.counted.map(_.distinct).flatten.groupBy(identity).exists(_._2.size > 1)
      if (within) cases += "copies in one archive"
      if (between) cases += "copies in two archives"
      def named(all: mutable.Map[LogPartition, Seq[Long]]) = all.toSeq.filter(_._2.nonEmpty)
      val rejection                                        =
        if (copies.isEmpty) Some("SPLICE_HAND_OVER.NO_ROWS" -> Nil)
        else if (foreign.nonEmpty) Some("SPLICE_HAND_OVER.PARTITION_NOT_FOUND" -> foreign.map(_.toString))
        else if (ahead.nonEmpty) Some("SPLICE_HAND_OVER_DATA.HISTORY_BEYOND_LOG" -> ahead.map(_.partition.toString))
        else if ((within || between) && world.onDuplicates == FailOrWarn.Fail)
          Some("SPLICE_HAND_OVER_DATA.DUPLICATES" ->
            copies.groupBy(identity).filter(_._2.size > 1).keys.map(_._1.toString).toSeq.distinct)
        else if (named(fillable).nonEmpty && world.onHoles == OnHoles.Fail)
          Some("SPLICE_HAND_OVER_DATA.HOLES" -> named(fillable).map { case (p, all) =>
            s"$p lacks ${all.size} (${text(all)}"
          })
        else if (named(gone).nonEmpty && world.onGap == FailOrWarn.Fail)
          Some("SPLICE_HAND_OVER_DATA.GAP" -> named(gone).map { case (p, all) => s"$p ${text(all)}" })
        else None
      Expected(world, rejection, cases.toSet)
    }

    /** Text of the first ranges of single offsets. */
    private def text(offsets: Seq[Long]): String = {
      val sorted = offsets.sorted
      val runs   = sorted.foldLeft(Vector.empty[Vector[Long]]) {
        case (done :+ last, o) if last.last + 1 == o => done :+ (last :+ o)
        case (done, o)                               => done :+ Vector(o)
      }
      runs.take(5).map(r => if (r.size == 1) s"${r.head}" else s"${r.head} to ${r.last}").mkString(", ")
    }
  }
}
