// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.{Duration => Length}

import splice.source._

/** Options of a leg that define its [[HandOver]]. */
private[splice] object HandOverOptions {

  val OffsetsRule          = "offsets"
  val EventTimeRule        = "eventTime"
  val ModificationTimeRule = "modificationTime"
  val NowMinusRule         = "nowMinus"
  val CustomRule           = "custom"

  private type Parse = SourceOptions => HandOver

  val Rule: SourceOption[Parse] = SourceOption(
    "handOver",
    OptionType.choice[Parse](
      OffsetsRule          -> offsets,
      EventTimeRule        -> eventTime,
      ModificationTimeRule -> modificationTime,
      NowMinusRule         -> nowMinus,
      CustomRule           -> custom
    ),
    "where the leg starts once the one before has ended; by default where its own options say"
  )

  val Topic: SourceOption[String] =
    column("topic", "the history's column with the topic, for offsets and custom").withDefault("topic", "topic")

  val Partition: SourceOption[String] =
    column(
      "partition",
      "the history's column with the partition, for offsets and custom"
    ).withDefault("partition", "partition")

  val Offset: SourceOption[String] =
    column("offset", "the history's column with the offset, for offsets and custom").withDefault("offset", "offset")

  val Timestamp: SourceOption[String] = column(
    "timestamp",
    "the history's column with the timestamp of the record, for offsets; it is compared with the log. By default it is not compared"
  )

  val Key: SourceOption[String] = column(
    "key",
    "the history's column with the key of the record, for offsets; it is compared with the log. By default it is not compared"
  )

  val Column: SourceOption[String] = column("column", "the history's timestamp column, for eventTime and custom")

  val Overlap: SourceOption[Length] = SourceOption(
    s"${Rule.key}.overlap",
    OptionType.Time,
    "for eventTime and modificationTime: how much before the end of the history the leg starts; that much is read twice"
  )

  val Duration: SourceOption[Length] = SourceOption(
    s"${Rule.key}.duration",
    OptionType.Time,
    "for nowMinus: how long before the moment of the switch the leg starts"
  )

  val Class: SourceOption[String] = SourceOption(
    s"${Rule.key}.class",
    OptionType.Text,
    "for custom: a class with a public constructor without arguments that implements splice.hybrid.HandOverRule"
  )

  val Python: SourceOption[String] = SourceOption(
    s"${Rule.key}.python",
    OptionType.Text,
    "for custom: the name of a Python function of this driver; set by the Python package, never by hand"
  )

  val OnGap: SourceOption[OnGap] = SourceOption(
    "onGap",
    OptionType.choice[OnGap]("fail" -> splice.source.OnGap.Fail, "warn" -> splice.source.OnGap.Warn),
    "policy for records that neither the previous legs hold nor the leg reads, for example because retention removed them"
  ).withDefault(splice.source.OnGap.Fail, "fail")

  val OnHoles: SourceOption[OnHoles] = SourceOption(
    "onHoles",
    OptionType.choice[OnHoles](
      "fill"   -> splice.hybrid.OnHoles.Fill,
      "fail"   -> splice.hybrid.OnHoles.Fail,
      "ignore" -> splice.hybrid.OnHoles.Ignore
    ),
    "for offsets: policy for offsets before the end of the history that no previous leg has: read them from the log, fail, " +
      "or ignore them, as a compacted or transactional topic needs it"
  ).withDefault(splice.hybrid.OnHoles.Fill, "fill")

  val OnDuplicates: SourceOption[OnDuplicates] = SourceOption(
    "onDuplicates",
    OptionType.choice[OnDuplicates](
      "fail" -> splice.hybrid.OnDuplicates.Fail,
      "warn" -> splice.hybrid.OnDuplicates.Warn
    ),
    "for offsets: policy for records that the previous legs hold several times"
  ).withDefault(splice.hybrid.OnDuplicates.Fail, "fail")

  val all: Seq[SourceOption[_]] =
    Seq(
      Rule,
      Topic,
      Partition,
      Offset,
      Timestamp,
      Key,
      Column,
      Overlap,
      Duration,
      Class,
      Python,
      OnHoles,
      OnGap,
      OnDuplicates
    )

  private val parameters: Seq[(String, Set[String])] = Seq(
    OffsetsRule   -> Set(Topic.key, Partition.key, Offset.key, Timestamp.key, Key.key, OnHoles.key, OnDuplicates.key),
    EventTimeRule -> Set(Column.key, Overlap.key),
    ModificationTimeRule -> Set(Overlap.key),
    NowMinusRule         -> Set(Duration.key),
    CustomRule           -> Set(Class.key, Python.key, Topic.key, Partition.key, Offset.key, Column.key)
  )

  /** Hand-over rule of the options, if any.
    *
    * @throws SpliceOptionException
    *   if a parameter is missing, or is set without its rule
    */
  def parse(options: SourceOptions): Option[HandOver] = {
    val rule = options.find(Rule).map(_(options))
    refuseForeign(options, rule)
    rule
  }

  private def refuseForeign(options: SourceOptions, rule: Option[HandOver]): Unit = {
    val own = rule match {
      case Some(made: HandOver.Offsets) =>
        made.options.map(_._1).toSet ++ Seq(OnHoles.key, OnGap.key, OnDuplicates.key)
      case Some(_: HandOver.Custom) => parameters.toMap.apply(CustomRule) ++ Seq(Rule.key, OnGap.key)
      case Some(made)               => made.options.map(_._1).toSet + OnGap.key
      case None                     => Set.empty[String]
    }
    all.map(_.key).find(key => options.contains(key) && !own(key)).foreach { key =>
      val belongs = parameters.collect { case (name, keys) if keys(key) => name }
      val needed  = if (belongs.isEmpty) "a hand-over" else belongs.map(r => s"'${Rule.key}' = $r").mkString(" or ")
      val found   = options.get(Rule.key).fold("no hand-over is set")(r => s"the hand-over is $r")
      throw OptionErrors.conflict(
        Seq(options.name(key), options.name(Rule.key)),
        s"'${options.name(key)}' belongs to $needed, but $found; remove the option or set the matching hand-over"
      )
    }
  }

  private def offsets(o: SourceOptions): HandOver = {
    val needed = Seq(Topic, Partition, Offset).map(role => role -> o(role))
    val others = Seq(Timestamp, Key).flatMap(role => o.find(role).map(role -> _))
    LogColumnsOption.repeated((needed ++ others).map { case (role, name) => o.name(role.key) -> name }).foreach { why =>
      throw OptionErrors.conflict((needed ++ others).map(_._1.key).map(o.name), why)
    }
    HandOver.Offsets(
      LogColumns.Named(OffsetColumns(o(Topic), o(Partition), o(Offset)), o.find(Timestamp), o.find(Key))
    )
  }

  private def eventTime(o: SourceOptions): HandOver = HandOver.EventTime(o(Column), o(Overlap))

  private def modificationTime(o: SourceOptions): HandOver = HandOver.ModificationTime(o(Overlap))

  private def nowMinus(o: SourceOptions): HandOver = HandOver.NowMinus(o(Duration))

  private def custom(o: SourceOptions): HandOver = {
    val by = (o.find(Class), o.find(Python)) match {
      case (Some(_), Some(_)) =>
        throw OptionErrors.conflict(
          Seq(o.name(Class.key), o.name(Python.key)),
          "both set the rule; remove one of them"
        )
      case (None, Some(name)) => RuleOfUser.OfPython(name)
      case _                  => ofClass(o)
    }
    val isCounted = Seq(Topic, Partition, Offset).exists(option => o.contains(option.key))
    HandOver.Custom(
      by,
      Option.when(isCounted)(LogColumns.Named(OffsetColumns(o(Topic), o(Partition), o(Offset)))),
      o.find(Column)
    )
  }

  private def ofClass(o: SourceOptions): RuleOfUser = {
    val made = RuleOfUser.OfClass(o(Class).trim)
    if (!made.exists)
      throw OptionErrors.invalidValue(
        o.name(Class.key),
        made.name,
        "a class on the driver's class path that implements splice.hybrid.HandOverRule, with a public constructor without arguments",
        Class.doc
      )
    made
  }

  private def column(name: String, doc: String): SourceOption[String] = SourceOption(
    s"${Rule.key}.$name",
    OptionType[String]("the name of a column", t => Option(t.trim).filter(_.nonEmpty)),
    doc
  )
}
