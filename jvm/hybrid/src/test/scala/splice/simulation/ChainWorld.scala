// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import java.time.ZoneOffset

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.{LongType, StructType}

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.counting.{CountPlan, CountedColumns, CountedFields}
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{HandOver, HybridSource}
import splice.kafka.Place
import splice.kafka.internal.options.Subscription
import splice.simulation.leg.{CloseWatch, FilesLeg, KafkaLeg, RuleCalls, SimulatedLeg, SimulatedRule}
import splice.simulation.planted.Faults
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.{Boundedness, SessionSettings, SideLog}
import splice.source.{EnumeratorContext, Limits, Position, Source, SplitEnumerator}
import splice.testkit.internal.simulation.{RowIds, SimulatedCluster, SimulatedFolder}
import splice.testkit.simulation.{CrashPoint, Life, Violation}

/** Sources of one simulated chain, and the chain.
  *
  * @param durable
  *   side log of the query
  * @param committed
  *   offset of the last committed batch
  * @param driver
  *   number of the current driver
  */
final class ChainWorld(
    life: Life,
    val plan: ChainPlan,
    faults: Faults,
    durable: SideLog,
    committed: () => Option[String],
    driver: () => Int
) {

  import plan.{byPattern, onDuplicates, onGap, onHoles, shape, strict}

  private val chance = life.chance
  private val ids    = new RowIds

  /** Calls of the user-defined rule. */
  val calls = new RuleCalls(life, driver, () => isDecided)

  /** True if the clock has moved back at least once. */
  def hasMovedBack: Boolean = life.hasMovedBack

  /** True if reports of a committed batch may be lost, or if a committed batch may be read again. */
  def mayLoseCounts: Boolean = plan.asynchronous || plan.isBounded || life.wasFrozen ||
    Seq("rolled back", "a write fails before it takes effect").exists(life.situations) ||
    Seq(CrashPoint.AfterCommits, CrashPoint.BeforeEntry).exists(life.crashPoints.contains)

  /** True if retention or a deletion has removed the row. */
  def isRemoved(id: Long): Boolean = old.removed(id) || live.removed(id)

  /** True if the row belongs to a recreated topic of the live cluster. */
  def isOfRecreated(id: Long): Boolean = {
    val names = live.deleted.map(_.name).toSet
    (live.deleted ++ live.topics.values.filter(topic => names(topic.name))).flatMap(_.partitions).exists { log =>
      log.ever.exists(_.id.contains(id))
    }
  }

  /** Last written row. */
  def lastRow: Long = ids.last

  /** Cluster of the archived rows. */
  val old = new SimulatedCluster("x", life, ids)

  /** Cluster of the last leg. */
  val live: SimulatedCluster = if (shape == Shape.Moved) new SimulatedCluster("y", life, ids) else old

  private val subscription =
    if (byPattern) Subscription.TopicPattern("^[tu]$") else Subscription.Topics(SortedSet("t"))

  val folders: Seq[SimulatedFolder] = (shape match {
    case Shape.Twice | Shape.Moved => Seq("a")
    case Shape.Relay               => Nil
    case Shape.Dumps               => Seq("a", "b", "c")
    case Shape.Long(archives)      => (1 to archives).map(i => f"a$i%03d")
    case _                         => Seq("a", "b")
  }).map(new SimulatedFolder(_, life))

  val archiver = new Archiver(old, plan, life)

  old.create("t", chance.between(1, 3))
  if (live ne old) live.create("t", chance.between(1, 3))
  old.topic("t").partitions.indices.foreach(p => old.produce("t", p, 3 * folders.size + chance.between(0, 4)))
  folders.foreach(folder => archiver.archiveAll(folder))

  val legs: SortedMap[String, SimulatedLeg] = {
    val files = folders.zipWithIndex.map { case (folder, i) => folder.name -> filesLeg(folder, i) }
    val logs  = shape match {
      case Shape.Relay =>
        Seq("j" -> kafkaLeg("j", old, bounded = true), "k" -> kafkaLeg("k", old, bounded = true)) :+
          "live" -> kafkaLeg("live", live, bounded = false)
      case Shape.Twice | Shape.Moved =>
        Seq("k" -> kafkaLeg("k", old, bounded = true), "live" -> kafkaLeg("live", live, bounded = false))
      case _ => Seq("live" -> kafkaLeg("live", live, bounded = false))
    }
    SortedMap.from[String, SimulatedLeg](files ++ logs)
  }

  val names: Seq[String] = legs.keys.toSeq

  require(names.size >= 3, "a chain has three legs or more")

  private var late: Option[String] = shape match {
    case Shape.Archives | Shape.Dumps if chance.oneIn(5) => folders.lastOption.map(_.name)
    case _                                               => None
  }

  /** Archive that a later start adds to the chain. */
  def held: Option[String] = late

  /** Legs of the chain, including removed legs. */
  def attached: Seq[String] = names.filterNot(late.contains)

  /** Legs of the next start. */
  var present: Seq[String] = attached

  /** Adds the held-back archive. */
  def attach(name: String): Unit = {
    late = None
    present = names.filter(leg => leg == name || present.contains(leg))
  }

  /** Leg whose rule counts the rows of a leg. */
  def counting(name: String): Option[String] = (shape, name) match {
    case (Shape.ByTime(_), _)                                  => None
    case (Shape.Twice | Shape.Moved, "a") | (Shape.Relay, "j") => Some("k")
    case (Shape.Moved, "k")                                    => None
    case _                                                     => Some("live")
  }

  /** Creates the chain as a start of the query does. */
  def chain: Chain = chainOf(present)

  private def chainOf(some: Seq[String]): Chain = Chain(some.map { name =>
    faults.leg(Leg(
      name,
      legs(name).source,
      None,
      rule(name).filter(_ => some.head != name),
      onGap,
      s"$name.select",
      onDuplicates,
      onHoles
    ))
  }.toIndexedSeq)

  def source(): Source[_ <: Position] =
    new ChainSource(new HybridSource(chain, Some(ChainWorld.schema)), faults)({ now =>
      val first = session.getOrElse(now)
      session = Some(first)
      if (now != first) throw new Violation("a later start has other settings than the first start")
    })

  private var session = Option.empty[SessionSettings]

  /** True if the list of the last archive is complete. Files that are added later are not read. */
  def isListed: Boolean =
    folders.lastOption.flatMap(f => files(f.name)).exists(_.isComplete)

  /** True if the last leg has begun. */
  def isDecided: Boolean = scope(names.last).get("hand-over-00000000").nonEmpty

  /** True if the log supplies holes of the history. */
  def fillsHoles: Boolean = scope("live").get("hand-over-00000000").exists(_.head.contains("\"filled\""))

  /** Side log of a leg. */
  def scope(name: String): SideLog = durable.scope(LegEnumerators.scope(name))

  /** Stored decision of the whole chain. */
  def decided(key: String): Option[Seq[String]] = durable.get(key)

  /** Hand-over rule of a leg. */
  def rule(name: String): Option[HandOver] = {
    val exact = HandOver.offsets()
    (shape, name) match {
      case (Shape.Relay, "j")             => None
      case (Shape.Twice, "k" | "live")    => Some(exact)
      case (Shape.Relay, "k")             => Some(exact)
      case (Shape.Moved, "k")             => Some(exact)
      case (Shape.Moved, "live")          => None
      case (Shape.ByTime(byTime), "live") => Some(byTime)
      case (Shape.Custom, "live")         =>
        Some(HandOver.custom(classOf[SimulatedRule]).withOffsets("topic", "partition", "offset"))
      case (_, "live") => Some(exact)
      case _           => None
    }
  }

  /** Previous leg of a leg. */
  def before(name: String): Option[String] = names.lift(names.indexOf(name) - 1)

  def files(name: String): Option[FilesLeg] = legs(name) match {
    case leg: FilesLeg => Some(leg)
    case _             => None
  }

  def logs(name: String): Option[KafkaLeg] = legs(name) match {
    case leg: KafkaLeg => Some(leg)
    case _             => None
  }

  def position(json: String): HybridPosition = HybridPosition.parse(chainOf(attached), json)

  /** Plans to count the rows of archives for later legs. */
  private lazy val plans: Map[String, CountPlan] = {
    val all = chainOf(names)
    (for {
      leg     <- all.legs if files(leg.name).nonEmpty
      columns <- CountedColumns.of(all, leg)((_, named) => named)
    } yield {
      val fields = CountedFields.of(all, leg, columns)
      leg.name -> CountPlan.over(FilesLeg.Columns, leg.name, fields, ZoneOffset.UTC)._2
    }).toMap
  }

  private def filesLeg(folder: SimulatedFolder, index: Int) = new FilesLeg(
    folder,
    chance.oneOf(Seq(Limits.NotSet, Limits.Limited(files = Some(1)), Limits.Limited(bytes = Some(40)))),
    chance.oneOf(Seq(10L, 30L, 1000L)),
    life,
    faults,
    () => plans.get(folder.name),
    plan.skipsFiles,
    plan.watches,
    scope(folder.name),
    () => scope(names(index + 1)).get("hand-over-00000000").isDefined,
    () => reached(folder.name)
  )

  private def kafkaLeg(name: String, cluster: SimulatedCluster, bounded: Boolean) = new KafkaLeg(
    name,
    cluster,
    subscription,
    if (shape == Shape.Relay && chance.oneIn(2)) Place.Latest else Place.Earliest,
    bounded,
    chance.oneOf(Seq(
      Limits.NotSet,
      Limits.Limited(rows = Some(chance.between(2, 8).toLong)),
      Limits.Limited(minRows = Some(chance.between(3, 8).toLong)),
      Limits.Limited(minRows = Some(3L), rows = Some(5L))
    )),
    strict,
    life,
    faults,
    () => reached(name)
  )

  /** Checks that every ended log has received the commit of its end. */
  def checkCommits(): Unit = for {
    at   <- committed().map(position).toSeq
    name <- present.takeWhile(_ != at.leg)
    leg  <- logs(name)
  } if (!leg.reported(at.position(name).json))
    throw new Violation(s"leg $name never receives the commit of its end, ${at.position(name)}")

  private def reached(leg: String): Option[Position] =
    committed().map(position).filter(p => names.indexOf(leg) <= names.indexOf(p.leg)).map(_.position(leg))
}

object ChainWorld {
  val schema: StructType = new StructType().add("id", LongType)
}

/** Real hybrid source without the parts that need a session: columns and readers. */
final private class ChainSource(real: HybridSource, faults: Faults)(session: SessionSettings => Unit)
    extends Source[HybridPosition] {
  override def kind: String                                                            = real.kind
  override def boundedness: Boundedness                                                = real.boundedness
  override def schema: StructType                                                      = ChainWorld.schema
  override private[splice] def legs(log: SideLog): Seq[LegIdentity]                    = faults.legs(real.legs(log))
  override def position(json: String): HybridPosition                                  = real.position(json)
  override def enumerator(context: EnumeratorContext): SplitEnumerator[HybridPosition] = {
    session(context.session)
    new CloseWatch(faults.paced(faults.hybrid(real.enumerator(context)), context.clock))
  }
}
