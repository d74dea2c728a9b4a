// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import java.time.{Duration => Length, ZoneId}

import scala.util.Try

import splice.hybrid.internal.chain.OnHoles
import splice.hybrid.{HandOver, LogColumns}
import splice.source.OffsetColumns
import splice.source.errors.OptionErrors
import splice.source.options.{FailOrWarn, OptionType, SourceOption, SourceOptions}

/** Options of a leg that define its [[HandOver]]. */
private[splice] object HandOverOptions {

  val OffsetsRule          = "offsets"
  val EventTimeRule        = "eventTime"
  val ModificationTimeRule = "modificationTime"
  val NowMinusRule         = "nowMinus"
  val WriterRule           = "writerCheckpoint"
  val AfterVersionRule     = "afterVersion"
  val CustomRule           = "custom"

  private type Parse = SourceOptions => HandOver

  val Rule: SourceOption[Parse] = SourceOption(
    "handOver",
    OptionType.choice[Parse](
      OffsetsRule          -> offsets,
      EventTimeRule        -> eventTime,
      ModificationTimeRule -> modificationTime,
      NowMinusRule         -> nowMinus,
      WriterRule           -> writer,
      AfterVersionRule     -> (_ => HandOver.AfterVersion),
      CustomRule           -> custom
    ),
    "Rule that computes the start of the leg after the previous leg has ended. Default: the start that the " +
      "options of the leg set."
  )

  val Topic: SourceOption[String] =
    column(
      "topic",
      "Column of the history that contains the topic. The hand-over rules 'offsets' and 'custom' use this column."
    ).withDefault("topic", "topic")

  val Partition: SourceOption[String] =
    column(
      "partition",
      "Column of the history that contains the partition. The hand-over rules 'offsets' and 'custom' use this column."
    ).withDefault("partition", "partition")

  val Offset: SourceOption[String] =
    column(
      "offset",
      "Column of the history that contains the offset. The hand-over rules 'offsets' and 'custom' use this column."
    ).withDefault("offset", "offset")

  val Column: SourceOption[String] = column(
    "column",
    "Timestamp column of the history. The hand-over rules 'eventTime' and 'custom' use this column."
  )

  val Zone: SourceOption[ZoneId] = SourceOption(
    s"${Rule.key}.zone",
    OptionType[ZoneId]("a time zone such as UTC or Europe/Berlin", text => Try(ZoneId.of(text.trim)).toOption),
    "Time zone of the column 'handOver.column' if the column has dates or timestamps without time zone, which need " +
      "this option. The hand-over rules 'eventTime' and 'custom' use this time zone."
  )

  val Overlap: SourceOption[Length] = SourceOption(
    s"${Rule.key}.overlap",
    OptionType.Time,
    "Time before the end of the history at which the leg starts. The hand-over rules 'eventTime' and " +
      "'modificationTime' use this time. The query reads the rows of this period twice."
  )

  val Duration: SourceOption[Length] = SourceOption(
    s"${Rule.key}.duration",
    OptionType.Time,
    "Time before the moment of the switch at which the leg starts. The hand-over rule 'nowMinus' uses this time."
  )

  val Checkpoint: SourceOption[String] = SourceOption(
    s"${Rule.key}.checkpoint",
    OptionType[String]("the folder of a checkpoint", t => Option(t.trim).filter(_.nonEmpty)),
    "Checkpoint of the Spark query that has written the history from Kafka. The hand-over rule 'writerCheckpoint' " +
      "uses this folder."
  )

  val Source: SourceOption[Int] = SourceOption(
    s"${Rule.key}.source",
    OptionType[Int]("a whole number, 0 or more", _.trim.toIntOption.filter(_ >= 0)),
    "Number of the Kafka source in the query that has written the history. The hand-over rule 'writerCheckpoint' " +
      "uses this number."
  ).withDefault(0, "0")

  val Class: SourceOption[String] = SourceOption(
    s"${Rule.key}.class",
    OptionType[String]("a class name such as com.example.Rule", Some(_)),
    "Class that implements 'splice.hybrid.HandOverRule'. The class must have a public constructor without " +
      "parameters. The hand-over rule 'custom' uses this class."
  )

  val Python: SourceOption[String] = SourceOption(
    s"${Rule.key}.python",
    OptionType.Text,
    "Name of a Python function in the driver. The hand-over rule 'custom' uses this function. The Python " +
      "package sets this option."
  )

  val OnGap: SourceOption[FailOrWarn] = SourceOption(
    "onGap",
    FailOrWarn.option,
    "Policy for records that neither the previous legs have nor the leg reads, for example because retention " +
      "removed the records. 'fail' ends the query with an error. With 'warn', Splice logs a warning, and the " +
      "query continues without these records."
  ).withDefault(FailOrWarn.Fail, "fail")

  val OnHoles: SourceOption[OnHoles] = SourceOption(
    "onHoles",
    OptionType.choice[OnHoles](
      "fail"   -> splice.hybrid.internal.chain.OnHoles.Fail,
      "fill"   -> splice.hybrid.internal.chain.OnHoles.Fill,
      "ignore" -> splice.hybrid.internal.chain.OnHoles.Ignore
    ),
    "Policy for offsets before the end of the history that no previous leg has. The hand-over rule 'offsets' " +
      "uses this policy. 'fail' ends the query with an error. 'fill' reads the records at these offsets from " +
      "the log. 'ignore' skips these offsets, as a compacted or transactional topic requires."
  ).withDefault(splice.hybrid.internal.chain.OnHoles.Fill, "fill")

  val OnDuplicates: SourceOption[FailOrWarn] = SourceOption(
    "onDuplicates",
    FailOrWarn.option,
    "Policy for records that the previous legs have several times. The hand-over rule 'offsets' uses this " +
      "policy. 'fail' ends the query with an error. With 'warn', Splice logs a warning, and the query " +
      "continues."
  ).withDefault(FailOrWarn.Fail, "fail")

  val all: Seq[SourceOption[_]] =
    Seq(
      Rule,
      Topic,
      Partition,
      Offset,
      Column,
      Zone,
      Overlap,
      Duration,
      Checkpoint,
      Source,
      Class,
      Python,
      OnHoles,
      OnGap,
      OnDuplicates
    )

  private val parameters: Seq[(String, Set[String])] = Seq(
    OffsetsRule          -> Set(Topic.key, Partition.key, Offset.key, OnHoles.key, OnDuplicates.key),
    EventTimeRule        -> Set(Column.key, Zone.key, Overlap.key),
    ModificationTimeRule -> Set(Overlap.key),
    NowMinusRule         -> Set(Duration.key),
    WriterRule           -> Set(Checkpoint.key, Source.key),
    AfterVersionRule     -> Set.empty,
    CustomRule           -> Set(Class.key, Python.key, Topic.key, Partition.key, Offset.key, Column.key, Zone.key)
  )

  /** Hand-over rule of the options, if any.
    *
    * @throws SpliceOptionException
    *   if a parameter is missing, or is set without its rule
    */
  def parse(options: SourceOptions): Option[HandOver] = {
    val rule = options.find(Rule).map(_(options))
    rejectForeign(options, rule)
    rule
  }

  private def rejectForeign(options: SourceOptions, rule: Option[HandOver]): Unit = {
    val allowed = rule match {
      case Some(created: HandOver.Offsets) =>
        created.options.map(_._1).toSet ++ Seq(OnHoles.key, OnGap.key, OnDuplicates.key)
      case Some(_: HandOver.Custom) => parameters.toMap.apply(CustomRule) ++ Seq(Rule.key, OnGap.key)
      case Some(created)            => created.options.map(_._1).toSet + OnGap.key
      case None                     => Set.empty[String]
    }
    all.map(_.key).find(key => options.contains(key) && !allowed(key)).foreach { key =>
      val option  = options.name(Rule.key)
      val belongs = parameters.collect { case (name, keys) if keys(key) => name }
      val needed  = if (belongs.isEmpty) "a hand-over" else belongs.map(r => s"'$option' = '$r'").mkString(" or ")
      val current = options.get(Rule.key).fold("no hand-over is set")(r => s"the hand-over is '$r'")
      throw OptionErrors.conflict(
        Seq(options.name(key), option),
        s"'${options.name(key)}' belongs to $needed, and $current; remove the option, or set the hand-over that the option belongs to"
      )
    }
  }

  private def offsets(o: SourceOptions): HandOver = {
    val needed = Seq(Topic, Partition, Offset).map(role => role -> o(role))
    LogColumnsOption.repeated(needed.map { case (role, name) => o.name(role.key) -> name }).foreach { why =>
      throw OptionErrors.conflict(
        needed.map(_._1.key).map(o.name),
        s"$why; set a different column for each option"
      )
    }
    HandOver.Offsets(LogColumns.Named(OffsetColumns(o(Topic), o(Partition), o(Offset))))
  }

  private def eventTime(o: SourceOptions): HandOver = HandOver.EventTime(o(Column), o(Overlap), o.find(Zone))

  private def modificationTime(o: SourceOptions): HandOver = HandOver.ModificationTime(o(Overlap))

  private def nowMinus(o: SourceOptions): HandOver = HandOver.NowMinus(o(Duration))

  private def writer(o: SourceOptions): HandOver = HandOver.WriterCheckpoint(o(Checkpoint), o(Source))

  private def custom(o: SourceOptions): HandOver = {
    val by = (o.find(Class), o.find(Python)) match {
      case (Some(_), Some(_)) =>
        throw OptionErrors.conflict(
          Seq(o.name(Class.key), o.name(Python.key)),
          "the options name the rule twice; remove one of the options"
        )
      case (None, Some(name)) => RuleOfUser.OfPython(name)
      case _                  => ofClass(o)
    }
    val isCounted = Seq(Topic, Partition, Offset).exists(option => o.contains(option.key))
    HandOver.Custom(
      by,
      Option.when(isCounted)(LogColumns.Named(OffsetColumns(o(Topic), o(Partition), o(Offset)))),
      o.find(Column),
      o.find(Zone)
    )
  }

  private def ofClass(o: SourceOptions): RuleOfUser = {
    val created = RuleOfUser.OfClass(o(Class).trim)
    if (!created.exists)
      throw OptionErrors.invalidValue(
        o.name(Class.key),
        created.name,
        "a class on the driver's class path that implements splice.hybrid.HandOverRule, with a public constructor without arguments",
        Class.doc
      )
    created
  }

  private def column(name: String, doc: String): SourceOption[String] = SourceOption(
    s"${Rule.key}.$name",
    OptionType[String]("the name of a column", t => Option(t.trim).filter(_.nonEmpty)),
    doc
  )
}
