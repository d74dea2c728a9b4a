// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.{Duration, ZoneId}

import splice.hybrid.internal.options.{HandOverOptions, RuleOfUser}
import splice.source.OffsetColumns

/** Rule that computes the start of a leg from the end of the previous leg (FLIP-150's start position conversion).
  * Splice evaluates the rule once, at the switch.
  *
  * Columns are columns of the source of the previous leg, before `select` is applied.
  */
sealed trait HandOver extends Product with Serializable {

  /** Options of the rule, without the leg prefix. */
  def options: Seq[(String, String)]

  /** Name of the rule, which is the value of its option. */
  private[hybrid] def name: String = options.head._2

  /** Exact count of the previous legs; None if the rule does not need a count. */
  private[hybrid] def counts: Option[HandOver.Offsets] = None

  /** Time column of the previous leg whose minimum and maximum the rule needs. */
  private[hybrid] def timeColumn: Option[String] = None

  /** Time zone of that column, if its values have no time zone. */
  private[hybrid] def timeZone: Option[ZoneId] = None
}

object HandOver {

  /** Text of a rule on one line. */
  private[hybrid] def text(rule: Option[HandOver]): String =
    rule.fold("")(_.options.map {
      case (HandOverOptions.Python.key, name) => s"${HandOverOptions.Python.key}=${RuleOfUser.OfPython(name).text}"
      case (key, value)                       => s"$key=$value"
    }.mkString(" "))

  /** Exact hand-over with each row once. The leg first reads the offsets of each log partition that the history
    * lacks. Then the leg reads all offsets after the greatest offset of the history.
    *
    * @param columns
    *   columns of the legs of the history that do not set [[LogColumns]]. With the columns `topic`, `partition` and
    *   `offset`, each leg may also have the columns of a known writer
    */
  final case class Offsets(columns: LogColumns.Named) extends HandOver {
    override def options: Seq[(String, String)] = (HandOverOptions.Rule.key -> HandOverOptions.OffsetsRule) +:
      columns.offsets.topic.map(HandOverOptions.Topic.key -> _).toSeq :+
      (HandOverOptions.Partition.key -> columns.offsets.partition) :+
      (HandOverOptions.Offset.key    -> columns.offsets.offset)
    override private[hybrid] def counts: Option[Offsets] = Some(this)
  }

  /** Start at the greatest event time minus an overlap. Rows within the overlap are read twice. Rows that arrive
    * later than the overlap are lost.
    *
    * @param zone
    *   time zone of a column of dates or of timestamps without time zone, which need this zone
    */
  final case class EventTime(column: String, overlap: Duration, zone: Option[ZoneId] = None) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key    -> HandOverOptions.EventTimeRule,
      HandOverOptions.Column.key  -> column,
      HandOverOptions.Overlap.key -> HandOver.millis(overlap)
    ) ++ zone.map(HandOverOptions.Zone.key -> _.getId)
    override private[hybrid] def timeColumn: Option[String] = Some(column)
    override private[hybrid] def timeZone: Option[ZoneId]   = zone
  }

  /** Start at the modification time of the newest file minus an overlap. Rows within the overlap are read twice. Rows
    * that arrive later than the overlap are lost.
    */
  final case class ModificationTime(overlap: Duration) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key    -> HandOverOptions.ModificationTimeRule,
      HandOverOptions.Overlap.key -> HandOver.millis(overlap)
    )
  }

  /** Start at the time of the switch minus a duration. The content of the history has no effect. */
  final case class NowMinus(duration: Duration) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key     -> HandOverOptions.NowMinusRule,
      HandOverOptions.Duration.key -> HandOver.millis(duration)
    )
  }

  /** Exact start after a history that a query of Spark writes from Kafka. The start is the end of the last batch of this
    * query that the history contains, as the checkpoint of the query has logged it. No column of the history is needed.
    *
    * @param checkpoint
    *   folder of the checkpoint of the query that has written the history
    * @param source
    *   number of the Kafka source in that query, from 0
    */
  final case class WriterCheckpoint(checkpoint: String, source: Int = 0) extends HandOver {
    override def options: Seq[(String, String)] = Seq(
      HandOverOptions.Rule.key       -> HandOverOptions.WriterRule,
      HandOverOptions.Checkpoint.key -> checkpoint,
      HandOverOptions.Source.key     -> source.toString
    )
  }

  /** Exact start after the version of a table that the history has read. The leg is a stream of the same table, such as
    * the stream of Iceberg.
    */
  case object AfterVersion extends HandOver {
    override def options: Seq[(String, String)] = Seq(HandOverOptions.Rule.key -> HandOverOptions.AfterVersionRule)
  }

  /** User-defined [[HandOverRule]]. The returned start may lose rows or read rows twice.
    *
    * @param columns
    *   columns of the previous legs with the offsets to count for the rule; None = no count
    * @param time
    *   timestamp column of the previous leg whose minimum and maximum the rule receives
    * @param zone
    *   see [[EventTime]]
    */
  final case class Custom private[splice] (
      by: RuleOfUser,
      columns: Option[LogColumns.Named],
      time: Option[String],
      zone: Option[ZoneId] = None
  ) extends HandOver {
    override def options: Seq[(String, String)] =
      Seq(HandOverOptions.Rule.key -> HandOverOptions.CustomRule, by.option) ++
        columns.toSeq.flatMap(Offsets(_).options.drop(1)) ++ time.map(HandOverOptions.Column.key -> _) ++
        zone.map(HandOverOptions.Zone.key -> _.getId)

    override private[hybrid] def counts: Option[Offsets]    = columns.map(Offsets(_))
    override private[hybrid] def timeColumn: Option[String] = time
    override private[hybrid] def timeZone: Option[ZoneId]   = zone

    /** Returns a copy of this rule that also receives the offsets of the previous legs per log partition. */
    def withOffsets(topic: String, partition: String, offset: String): Custom =
      copy(columns = Some(LogColumns.Named(OffsetColumns(topic, partition, offset))))

    /** Returns a copy of this rule that also receives the minimum and the maximum of a timestamp column. */
    def withEventTime(column: String): Custom = copy(time = Some(column))

    /** Returns a copy of this rule that also receives the minimum and the maximum of a column of dates, or of timestamps
      * without time zone, in a time zone.
      */
    def withEventTime(column: String, zone: ZoneId): Custom = copy(time = Some(column), zone = Some(zone))
  }

  /** [[Custom]] rule from a class with a public constructor without arguments. */
  def custom(rule: Class[_ <: HandOverRule]): Custom = Custom(RuleOfUser.OfClass(rule.getName), None, None)

  /** [[Offsets]] over columns `topic`, `partition`, `offset`, or over the columns of a known writer. */
  def offsets(): HandOver = offsets("topic", "partition", "offset")

  /** [[Offsets]] over the given columns. */
  def offsets(topic: String, partition: String, offset: String): HandOver =
    Offsets(LogColumns.Named(OffsetColumns(topic, partition, offset)))

  /** See [[EventTime]]. */
  def eventTime(column: String, overlap: Duration): HandOver = EventTime(column, overlap)

  /** See [[EventTime]]. */
  def eventTime(column: String, overlap: Duration, zone: ZoneId): HandOver = EventTime(column, overlap, Some(zone))

  /** See [[ModificationTime]]. */
  def modificationTime(overlap: Duration): HandOver = ModificationTime(overlap)

  /** See [[WriterCheckpoint]]. */
  def writerCheckpoint(checkpoint: String, source: Int = 0): HandOver = WriterCheckpoint(checkpoint, source)

  /** See [[AfterVersion]]. */
  def afterVersion(): HandOver = AfterVersion

  /** See [[NowMinus]]. */
  def nowMinus(duration: Duration): HandOver = NowMinus(duration)

  private def millis(duration: Duration): String = s"${duration.toMillis}ms"
}
