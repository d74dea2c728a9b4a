// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import splice.hybrid.internal.chain.{Chain, HybridColumns, Leg}
import splice.hybrid.{HandOver, LogColumns}
import splice.source.errors.OptionErrors

/** Checks the values of previous legs that undecided hand-overs need, as far as no schema is needed.
  *
  * Options of ended legs and rules of started legs have no effect and are not checked.
  */
private[hybrid] object EvidenceCheck {

  private val Key = LogColumnsOption.Columns.key

  /** @throws splice.source.errors.SpliceOptionException
    *   if a rule that counts offsets has no leg to count, a rule by times follows a log, or columns have no effect
    */
  def apply(chain: Chain): Unit = {
    chain.legs.filterNot(chain.hasEnded).foreach(leg => leg.logColumns.foreach(check(chain, leg, _)))
    chain.undecided.foreach { leg =>
      val history = chain.history(leg)
      if (history.isEmpty) throw nothingCounted(chain, leg)
      if (history.forall(_.source.readsLog)) rejectColumns(leg, history)
    }
    chain.legs.zip(chain.legs.drop(1)).foreach { case (before, leg) =>
      if (before.source.readsLog && !chain.decided.contains(leg.name)) leg.handOver.foreach(rejectTimes(before, leg, _))
    }
  }

  private def rejectTimes(log: Leg, leg: Leg, rule: HandOver): Unit = {
    val why =
      s"the previous leg '${log.name}' reads a log, which has no version, and the times of its records and files are not available"
    rule match {
      case _: HandOver.EventTime | _: HandOver.ModificationTime | _: HandOver.WriterCheckpoint | HandOver.AfterVersion =>
        import HandOverOptions._
        val allowed = s"$OffsetsRule, $NowMinusRule or $CustomRule ($why)"
        throw OptionErrors.invalidValue(s"${leg.name}.${Rule.key}", rule.name, allowed, Rule.doc)
      case HandOver.Custom(_, _, Some(column), _) => throw OptionErrors.conflict(
          Seq(s"${leg.name}.${HandOverOptions.Column.key}"),
          s"the rule cannot receive the times of '$column', because $why; remove the option"
        )
      case _ => ()
    }
  }

  private def rejectColumns(leg: Leg, logs: Seq[Leg]): Unit = leg.handOver.flatMap(_.counts).foreach { rule =>
    val (set, ofLog) = (rule.columns.offsets, LogColumns.OfLog.offsets)
    val other        = Seq(
      (HandOverOptions.Topic, set.topic, ofLog.topic),
      (HandOverOptions.Partition, Some(set.partition), Some(ofLog.partition)),
      (HandOverOptions.Offset, Some(set.offset), Some(ofLog.offset))
    ).collect {
      case (option, Some(name), Some(column)) if !HybridColumns.same(name, column) => s"${leg.name}.${option.key}"
    }
    if (other.nonEmpty)
      throw OptionErrors.conflict(
        other,
        s"the rule counts only leg '${logs.map(_.name).mkString("' and '")}', which reads a log and has topics, partitions and offsets " +
          "already; remove these options"
      )
  }

  private def check(chain: Chain, leg: Leg, columns: LogColumns): Unit = columns match {
    case named: LogColumns.Named if leg.source.readsLog =>
      throw LogColumnsOption.invalid(
        option(leg),
        LogColumnsOption.text(named),
        s"leg '${leg.name}' reads a log and has topics, partitions and offsets already; only 'none' is allowed"
      )
    case _: LogColumns.Named if chain.counting(leg).isEmpty                        => throw withoutEffect(leg)
    case LogColumns.Excluded if !chain.later(leg).exists(chain.undecided.contains) => throw withoutEffect(leg)
    case _                                                                         => ()
  }

  private def withoutEffect(leg: Leg) = OptionErrors.conflict(
    Seq(option(leg)),
    s"no later leg begins by the offsets of leg '${leg.name}', so the option has no effect; remove the option, or set the hand-over of a " +
      s"later leg to '${HandOverOptions.OffsetsRule}'"
  )

  private def nothingCounted(chain: Chain, leg: Leg) = {
    val before = chain.legs.takeWhile(_ != leg)
    // A rule by times cannot follow a log.
    val other = if (before.lastOption.exists(_.source.readsLog)) HandOverOptions.NowMinusRule
    else HandOverOptions.EventTimeRule
    OptionErrors.conflict(
      s"${leg.name}.${HandOverOptions.Rule.key}" +: before.filter(_.isExcluded).map(option),
      s"leg '${leg.name}' begins by the offsets of the previous legs, and each of these legs is excluded from the count; remove one exclusion, or " +
        s"use another hand-over for '${leg.name}', such as '$other'"
    )
  }

  private def option(leg: Leg) = s"${leg.name}.$Key"
}
