// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.planted

import splice.hybrid.internal.chain.OnHoles
import splice.hybrid.internal.split.HybridPosition
import splice.kafka.internal.cluster.ClusterClient
import splice.kafka.internal.split.KafkaPosition
import splice.simulation.ChainEdits.Change
import splice.simulation.Shape
import splice.simulation.leg.{Passing, SimulatedRule}
import splice.source.errors.SpliceException
import splice.source.internal.entries.VersionedEntry
import splice.source.internal.legs.LegIdentity
import splice.source.options.FailOrWarn
import splice.source.runtime.SideLog
import splice.source.{Limits, SplitEnumerator, SplitRange, StartPosition}
import splice.testkit.internal.simulation.SimulatedCluster

/** Injected faults of policies, of changed chains, of user-defined rules, and of the last commit of a log. */
object PlantedChainFaults {

  /** Name of each fault, with its situation. */
  val all: Seq[(String, Faults)] = Seq(
    "policy: onDuplicates=fail warns"      -> Faults(_.repeats, leg = _.copy(onDuplicates = FailOrWarn.Warn)),
    "policy: onDuplicates=warn fails"      -> Faults(_.repeats, leg = _.copy(onDuplicates = FailOrWarn.Fail)),
    "policy: onHoles=fill and fail ignore" -> Faults(_.skips, leg = _.copy(onHoles = OnHoles.Ignore)),
    "policy: onHoles=fill and ignore fail" -> Faults(_.skips, leg = _.copy(onHoles = OnHoles.Fail)),
    "policy: onHoles=fail and ignore fill" -> Faults(_.skips, leg = _.copy(onHoles = OnHoles.Fill)),
    "policy: onGap=warn fails"             -> Faults(leg = _.copy(onGap = FailOrWarn.Fail)),
    "removal: each leg counts as ended"    -> Faults(legs = _.map(_.copy(begun = true)), changes = Seq(Change.Remove)),
    "removal: no rule counts the rows of a leg" ->
      Faults(legs = _.map(_.copy(countsBefore = None)), changes = Seq(Change.Remove)),
    "removal: a batch is read without a removed leg"   -> Faults(hybrid = new Without(_), changes = Seq(Change.Remove)),
    "append: a leg is added before one that has begun" ->
      Faults(legs = _.map(_.copy(begun = false)), changes = Seq(Change.Append)),
    "append: an added leg is an error" -> Faults(legs = begun, changes = Seq(Change.Append)),
    "custom: each run calls the rule"  -> Faults(hybrid = new Calling(_), shape = Some(Shape.Custom)),
    "custom: the start that the rule returns is not used"     -> Faults(kafka = configured, shape = Some(Shape.Custom)),
    "commit: the end of a log counts as committed to a group" -> Faults(sideLog = new Presumed(_))
  )

  private def begun(legs: Seq[LegIdentity]): Seq[LegIdentity] = legs.map(_.copy(begun = true))

  private def configured(inner: SplitEnumerator[KafkaPosition], metadata: ClusterClient, cluster: SimulatedCluster) =
    new Passing[KafkaPosition](inner) {
      override def start(at: StartPosition): KafkaPosition = super.start(StartPosition.Configured)
    }

  /** Calls the rule at the first batch of each run, even if its start is stored. */
  final private class Calling(inner: SplitEnumerator[HybridPosition]) extends Passing[HybridPosition](inner) {
    private lazy val called = new SimulatedRule().start("{}")

    override def advance(from: HybridPosition, limits: Limits): HybridPosition = {
      val until = super.advance(from, limits)
      if (from.current.contains("live")) { val _ = called }
      until
    }
  }

  /** Treats a missing leg as completely read. */
  final private class Without(inner: SplitEnumerator[HybridPosition]) extends Passing[HybridPosition](inner) {

    private def orElse[A](other: => A)(body: => A): A =
      try body
      catch { case e: SpliceException if e.getCondition == "SPLICE_HYBRID.REMOVED_LEG" => other }

    override def limits(at: HybridPosition): Limits.Limited = orElse(Limits.NotSet: Limits.Limited)(super.limits(at))
    override def replay(from: HybridPosition, until: HybridPosition): Unit = orElse(())(super.replay(from, until))
    override def splits(from: HybridPosition, until: HybridPosition): Seq[SplitRange] =
      orElse(Seq.empty[SplitRange])(super.splits(from, until))
    override def advance(from: HybridPosition, limits: Limits): HybridPosition =
      orElse(from)(super.advance(from, limits))
  }

  /** Has an entry for a last commit that never happened. */
  final private class Presumed(log: SideLog) extends PassingSideLog(log) {
    override def get(key: String): Option[Seq[String]] =
      if (key == "committed") Some(VersionedEntry.write(Nil, Seq("planted"))) else super.get(key)
    override def scope(name: String): SideLog = new Presumed(log.scope(name))
  }
}
