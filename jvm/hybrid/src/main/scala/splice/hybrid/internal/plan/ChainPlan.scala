// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.Instant

import com.fasterxml.jackson.databind.JsonNode

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.handover.SwitchFormat
import splice.hybrid.internal.options.LogColumnsOption
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{HandOver, LogColumns}
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.internal.legs.{BatchCount, LegPlan}
import splice.source.runtime.SideLog

/** Plan of a query over a chain. The plan has one entry per leg and covers the rows that are available now.
  *
  * @param log
  *   side log of the run; discarded after the plan
  * @param switched
  *   evaluates and stores a switch as a query does; returns the start of the next leg if a leg has ended at a
  *   position
  * @param columns
  *   columns of a leg that the rule of a later leg counts
  * @param scan
  *   true if the plan may read rows to evaluate a rule
  * @param now
  *   time of the plan
  */
final private[hybrid] class ChainPlan(
    chain: Chain,
    log: SideLog,
    enumerators: LegEnumerators,
    switched: HybridPosition => Option[HybridPosition],
    columns: Leg => Option[LogColumns.Named],
    scan: Boolean,
    now: Instant
) {

  import ChainPlan._

  private val outlooks = chain.legs.map(leg => leg.name -> new Once(enumerators(leg)(_.outlook()))).toMap

  def apply(start: HybridPosition): Seq[LegPlan] =
    chain.legs.foldLeft((Vector.empty[LegPlan], Begin(Some(start), None, Nil))) { case ((done, begin), leg) =>
      val count = begin.at.map(at => enumerators(leg)(BatchCount.of(_, at.position)))
      // The switch to the last leg is a batch even without rows.
      val number =
        if (leg == chain.last && leg != chain.first) count.map(c => c.copy(number = math.max(c.number, 1L))) else count
      val outlook = outlooks(leg.name)()
      val start   = begin.at.map(_.position)
      val plan    = enumerators(leg) {
        LegPlan(Some(leg.name), leg.source, _, outlook, start, number, begin.handOver, begin.warnings)
      }
      (done :+ plan, chain.after(leg).fold(begin)(next(begin, count, leg, _)))
    }._1

  private def next(before: Begin, count: Option[BatchCount], leg: Leg, next: Leg): Begin = {
    // Server errors are raised here first. A later error of the switch is therefore an error of its rule.
    val _        = outlooks(next.name)()
    val warnings = Seq(
      ExpectedGaps.of(chain, next, of => outlooks(of.name)()),
      FutureTimes.of(chain, next, of => outlooks(of.name)(), now)
    ).flatten
    val result = for {
      at    <- before.at.toRight(Undecided -> s"the start of leg '${leg.name}' is undecided")
      until <- count.map(_.until).toRight(Undecided -> s"the start of leg '${leg.name}' is undecided")
      _     <- if (scan) Right(()) else needsScan(next).map(Undecided -> _).toLeft(())
      begun <- evaluated(at.moved(until))
    } yield begun
    result match {
      case Right(begun)     => Begin(Some(begun), Some(handOver(next, decided(next): _*)), warnings ++ losses(next))
      case Left((key, why)) =>
        val stop = Option.when(key == Error)(s"the query would stop at the switch: $why")
        Begin(None, Some(handOver(next, key -> Json.text(why))), warnings ++ stop)
    }
  }

  private def evaluated(at: HybridPosition): Either[(String, String), HybridPosition] =
    try switched(at).toRight(Undecided -> s"leg '${at.leg}' does not end yet")
    catch { case e: SpliceException => Left(Error -> e.text) }

  /** Reason why the rule of a leg needs a scan; None if the rule needs no scan. */
  private def needsScan(next: Leg): Option[String] = next.handOver.flatMap {
    case _: HandOver.ModificationTime | _: HandOver.NowMinus | _: HandOver.WriterCheckpoint | HandOver.AfterVersion =>
      None
    case _: HandOver.EventTime => Some(NeedsRows)
    case _: HandOver.Custom    => Some(CallsRule)
    case _: HandOver.Offsets   => Option.when(chain.history(next).exists(!_.source.readsLog))(NeedsRows)
  }

  private def handOver(leg: Leg, fields: (String, JsonNode)*): JsonNode = {
    val found = for {
      rule  <- leg.exact.toSeq
      of    <- chain.history(leg)
      named <- columns(of) if named != rule.columns
    } yield of.name -> LogColumnsOption.json(named)
    described(leg, Option.when(found.nonEmpty)("columns" -> Json.obj(found: _*)).toSeq ++ fields)
  }

  private def decided(leg: Leg): Seq[(String, JsonNode)] =
    SwitchFormat.entries(log.scope(LegEnumerators.scope(leg.name))).all.headOption.toSeq.flatMap(SwitchFormat.summary)

  /** Warnings about missing and repeated records that the policies of a leg accept. */
  private def losses(leg: Leg): Seq[String] = {
    val rows                  = decided(leg).collect { case ("found", node) => Json.items(node) }.flatten
    def partitions(k: String) = rows.count(row => Json.field(row, k).exists(_.path("offsets").asLong > 0))
    val onGap                 = s"With this '${leg.name}.onGap', the query continues without these offsets."
    val onDuplicates          = s"With this '${leg.name}.onDuplicates', the query continues with the duplicates."
    Seq(
      "unavailable" -> s"have offsets that are missing in the history and in the log. $onGap",
      "repeated"    -> s"have duplicate records in the history. $onDuplicates"
    ).collect { case (key, text) if partitions(key) > 0 => s"${partitions(key)} partitions $text" }
  }
}

private object ChainPlan {

  private val Undecided = "undecided"
  private val Error     = "error"
  private val NeedsRows = "the rule needs the rows of the history; use plan(scan=True)"
  private val CallsRule = "plan(scan=True) calls the rule"

  /** Start of a leg, with its hand-over.
    *
    * @param at
    *   None if the start depends on rows that the plan did not read
    */
  final private case class Begin(at: Option[HybridPosition], handOver: Option[JsonNode], warnings: Seq[String])

  /** Lazy value. */
  final private class Once[A](make: => A) {
    private lazy val created: A = make
    def apply(): A              = created
  }

  private def described(leg: Leg, fields: Seq[(String, JsonNode)]): JsonNode = {
    val policies = leg.handOver.toSeq.flatMap {
      case _: HandOver.Offsets => Seq(
          "onHoles"      -> text(leg.onHoles),
          "onGap"        -> text(leg.onGap),
          "onDuplicates" -> text(leg.onDuplicates)
        )
      case _ => Seq("onGap" -> text(leg.onGap))
    }
    val rule = "rule" -> Json.text(HandOver.text(leg.handOver))
    Json.obj((rule +: policies) ++ fields.filterNot(_._1 == "rule"): _*)
  }

  // The names of the cases equal the option values.
  private def text(policy: Product): JsonNode = Json.text(policy.productPrefix.toLowerCase(java.util.Locale.ROOT))
}
