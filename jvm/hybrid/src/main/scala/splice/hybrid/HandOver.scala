// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Duration

import splice.hybrid.internal.options.{HandOverOptions, RuleOfUser}
import splice.source.OffsetColumns

/** How a leg takes over from the one before: a rule that is asked once, at the switch (FLIP-150's start position conversion).
  *
  * Columns are those of the leg before, ahead of its `select`.
  */
sealed trait HandOver extends Product with Serializable {

  /** The rule as options, without the name of the leg. */
  def options: Seq[(String, String)]

  /** The exact count of the previous legs that the rule needs, if it does. */
  private[hybrid] def counts: Option[HandOver.Offsets] = None

  /** The column of the previous leg whose least and greatest values the rule needs. */
  private[hybrid] def timeColumn: Option[String] = None
}

object HandOver {

  /** A rule in one line. */
  private[hybrid] def text(rule: Option[HandOver]): String =
    rule.fold("")(_.options.map {
      case (HandOverOptions.Python.key, name) => s"${HandOverOptions.Python.key}=${RuleOfUser.OfPython(name).text}"
      case (key, value)                       => s"$key=$value"
    }.mkString(" "))

  /** Exact: what the history lacks of each log partition, then everything after its greatest offset. Each row once.
    *
    * @param columns
    *   of the legs of the history that have no [[LogColumns]] of their own
    */
  final case class Offsets(columns: LogColumns.Named) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key      -> HandOverOptions.OffsetsRule,
      HandOverOptions.Topic.key     -> columns.offsets.topic,
      HandOverOptions.Partition.key -> columns.offsets.partition,
      HandOverOptions.Offset.key    -> columns.offsets.offset
    ) ++ columns.timestamp.map(HandOverOptions.Timestamp.key -> _) ++ columns.key.map(HandOverOptions.Key.key -> _)
    override private[hybrid] def counts: Option[Offsets] = Some(this)
  }

  /** The greatest event time minus an overlap: rows of the overlap are read twice, rows later than it are lost. */
  final case class EventTime(column: String, overlap: Duration) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key    -> HandOverOptions.EventTimeRule,
      HandOverOptions.Column.key  -> column,
      HandOverOptions.Overlap.key -> HandOver.millis(overlap)
    )
    override private[hybrid] def timeColumn: Option[String] = Some(column)
  }

  /** The newest file's modification time minus an overlap: rows of the overlap are read twice, rows later than it are lost. */
  final case class ModificationTime(overlap: Duration) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key    -> HandOverOptions.ModificationTimeRule,
      HandOverOptions.Overlap.key -> HandOver.millis(overlap)
    )
  }

  /** A length of time before the moment of the switch, whatever the history holds. */
  final case class NowMinus(duration: Duration) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key     -> HandOverOptions.NowMinusRule,
      HandOverOptions.Duration.key -> HandOver.millis(duration)
    )
  }

  /** A [[HandOverRule]] of the user. What it returns sets whether rows are lost or read twice.
    *
    * @param columns
    *   the columns of the previous legs whose offsets are counted for the rule; None counts no offsets
    * @param time
    *   the timestamp column of the previous leg whose least and greatest values the rule receives
    */
  final case class Custom private[splice] (by: RuleOfUser, columns: Option[LogColumns.Named], time: Option[String])
      extends HandOver {
    override def options: Seq[(String, String)] =
      Seq(HandOverOptions.Rule.key -> HandOverOptions.CustomRule, by.option) ++
        columns.toSeq.flatMap(Offsets(_).options.drop(1)) ++ time.map(HandOverOptions.Column.key -> _)

    override private[hybrid] def counts: Option[Offsets]    = columns.map(Offsets(_))
    override private[hybrid] def timeColumn: Option[String] = time

    /** The same rule, which also receives the offsets of the previous legs for each log partition, by these columns. */
    def withOffsets(topic: String, partition: String, offset: String): Custom =
      copy(columns = Some(LogColumns.Named(OffsetColumns(topic, partition, offset))))

    /** The same rule, which also receives the least and the greatest value of a timestamp column. */
    def withEventTime(column: String): Custom = copy(time = Some(column))
  }

  /** [[Custom]], by a class with a public constructor without arguments. */
  def custom(rule: Class[_ <: HandOverRule]): Custom = Custom(RuleOfUser.OfClass(rule.getName), None, None)

  /** [[Offsets]] over columns `topic`, `partition`, `offset`. */
  def offsets(): HandOver = offsets("topic", "partition", "offset")

  /** [[Offsets]] over columns of other names. */
  def offsets(topic: String, partition: String, offset: String): HandOver =
    Offsets(LogColumns.Named(OffsetColumns(topic, partition, offset)))

  /** [[Offsets]] over columns of other names, two of which are compared with the log before the switch.
    *
    * @param timestamp
    *   the column with the timestamp of the record; None = it is not compared
    * @param key
    *   the column with the key of the record; None = it is not compared
    */
  def offsets(
      topic: String,
      partition: String,
      offset: String,
      timestamp: Option[String],
      key: Option[String]
  ): HandOver = Offsets(LogColumns.Named(OffsetColumns(topic, partition, offset), timestamp, key))

  /** See [[EventTime]]. */
  def eventTime(column: String, overlap: Duration): HandOver = EventTime(column, overlap)

  /** See [[ModificationTime]]. */
  def modificationTime(overlap: Duration): HandOver = ModificationTime(overlap)

  /** See [[NowMinus]]. */
  def nowMinus(duration: Duration): HandOver = NowMinus(duration)

  private def millis(duration: Duration): String = s"${duration.toMillis}ms"
}
