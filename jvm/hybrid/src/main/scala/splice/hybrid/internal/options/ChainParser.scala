// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.errors.{HandOverErrors, HybridErrors}
import splice.hybrid.{HandOver, HybridSourceProvider}
import splice.source.SourceProvider
import splice.source.errors.OptionErrors
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, OptionSet, OptionType, SourceOption, SourceOptions}
import splice.source.runtime.Boundedness

/** Creates the chain from its options, and runs all checks that need no server, folder or checkpoint. */
private[splice] object ChainParser {

  /** @throws SpliceOptionException with the name of the option, prefixed by its leg */
  def parse(options: SourceOptions): Chain = {
    val names = options(HybridOptions.Legs)
    LegNames.check(options, names)
    rejectUnknownLegs(options, names)
    val legs = names.map(name => leg(name, inherited(options, options.scope(name)), isLast = name == names.last))
    legs.headOption.filter(_.handOver.isDefined).foreach { first =>
      throw OptionErrors.conflict(
        Seq(s"${first.name}.${HandOverOptions.Rule.key}"),
        s"'${first.name}' is the first leg, so no previous leg exists; remove the hand-over, or add a leg before '${first.name}'"
      )
    }
    for (leg <- legs; rule <- leg.handOver) {
      val option = s"${leg.name}.${HandOverOptions.Rule.key}"
      rule match {
        case _: HandOver.Offsets | _: HandOver.WriterCheckpoint =>
          if (!leg.source.beginsByOffsets) throw HandOverErrors.noLog(option, leg.name, leg.source.kind)
        case _: HandOver.Custom =>
          if (!leg.source.beginsByOffsets && !leg.source.beginsByPosition)
            throw HandOverErrors.noLog(option, leg.name, leg.source.kind)
        case HandOver.AfterVersion =>
          if (!leg.source.beginsByPosition) throw HandOverErrors.noStream(option, leg.name, leg.source.kind)
        case _: HandOver.EventTime | _: HandOver.ModificationTime | _: HandOver.NowMinus =>
          if (!leg.source.beginsByTime)
            throw HandOverErrors.timeNotSupported(option, rule.name, leg.name, leg.source.kind)
      }
    }
    legs.dropRight(1).zip(legs.drop(1)).foreach { case (leg, after) =>
      if (leg.source.boundedness != Boundedness.Bounded) throw HybridErrors.unbounded(leg.name, after.name)
    }
    Chain(legs.toIndexedSeq)
  }

  private def leg(name: String, options: SourceOptions, isLast: Boolean): Leg = {
    val provider = SourceProvider.of(options)
    if (provider.kind == HybridSourceProvider.Kind)
      throw HybridErrors.nested(options.name(CommonOptions.Source.key), name)
    (provider.options ++ HybridOptions.leg).rejectUnknown(options)
    rejectSlots(options)
    val handOver = HandOverOptions.parse(options)
    if (handOver.isDefined) rejectTwoStarts(provider, options)
    val defaults = if (isLast) Nil else provider.beforeAnotherLeg(options)
    val kept     = options.without(HybridOptions.leg.options.map(_.key))
    val source   = provider.create(defaults.foldLeft(kept) { case (known, (key, value)) => known.orElse(key, value) })
    Leg(
      name,
      source,
      options.find(HybridOptions.Select),
      handOver,
      options(HandOverOptions.OnGap),
      options.name(HybridOptions.Select.key),
      options(HandOverOptions.OnDuplicates),
      options(HandOverOptions.OnHoles),
      LogColumnsOption.parse(options)
    )
  }

  private def rejectTwoStarts(provider: SourceProvider, options: SourceOptions): Unit =
    provider.startOption(options).foreach { key =>
      throw OptionErrors.conflict(
        Seq(options.name(HandOverOptions.Rule.key), options.name(key)),
        "the options set the start of the leg twice; remove one of the options"
      )
    }

  private def rejectSlots(options: SourceOptions): Unit =
    CommonOptions.ofQuery.map(_.key).find(options.contains).foreach { key =>
      throw OptionErrors.conflict(
        Seq(options.name(key), key),
        s"the option applies to the whole hybrid source; set '$key' without the name of a leg"
      )
    }

  private def inherited(options: SourceOptions, leg: SourceOptions): SourceOptions =
    options.get(CommonOptions.OnUnknown.key).fold(leg)(leg.orElse(CommonOptions.OnUnknown.key, _))

  // The check of the hybrid's options skips dotted keys, so this check must detect a mistyped leg name.
  private def rejectUnknownLegs(options: SourceOptions, names: Seq[String]): Unit = {
    val legs                 = names.map(fold(_)).toSet
    def isUnknown(k: String) = k.contains('.') && !legs(fold(k.takeWhile(_ != '.')))
    val meant                = for (key <- options.keys.filter(isUnknown); name <- names)
      yield SourceOption(name + key.dropWhile(_ != '.'), OptionType.Text, "an option of a leg")
    OptionSet("Legs", meant, !isUnknown(_)).rejectUnknown(options)
  }
}

/** Checks the names of legs. Leg names become parts of option names, offsets and file names. */
private[splice] object LegNames {

  private val allowed = "[A-Za-z][A-Za-z0-9_]*".r

  /** @throws splice.source.errors.SpliceOptionException if a name is not an identifier, or two names differ in case only */
  def check(options: SourceOptions, names: Seq[String]): Unit = {
    def reject(name: String, why: String) = throw HybridErrors.legName(options.name(HybridOptions.Legs.key), name, why)
    names.filterNot(allowed.matches).foreach {
      reject(_, "a name begins with a letter and has letters, digits and underscores only")
    }
    names.groupBy(fold(_)).values.find(_.size > 1).foreach { same =>
      reject(same.mkString("' and '"), "the names differ only in the case of letters")
    }
  }
}
