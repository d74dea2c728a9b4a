// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.ListMap

import splice.hybrid.internal.options.{HandOverOptions, HybridOptions, LogColumnsOption}
import splice.source.options.{CommonOptions, OptionSetters, SourceOptions}
import splice.source.{SourceProvider, SourceSpec}

/** Immutable builder of a hybrid source. Each call returns a new builder. */
final class HybridSourceBuilder private (
    names: Vector[String],
    legs: ListMap[String, String],
    settings: ListMap[String, String]
) extends OptionSetters[HybridSourceBuilder] {

  /** Adds a leg. The options of its source set the start. */
  def addSource(name: String, source: SourceSpec): HybridSourceBuilder = add(name, source, None, None)

  /** Adds a leg with a hand-over rule. */
  def addSource(name: String, source: SourceSpec, handOver: HandOver): HybridSourceBuilder =
    add(name, source, Option(handOver), None)

  /** Adds a leg with a hand-over rule and a SELECT list over the rows of its source. */
  def addSource(name: String, source: SourceSpec, handOver: HandOver, select: String): HybridSourceBuilder =
    add(name, source, Option(handOver), Option(select))

  /** Adds a leg with a SELECT list over the rows of its source. The options of the source set the start. */
  def addSource(name: String, source: SourceSpec, select: String): HybridSourceBuilder =
    add(name, source, None, Option(select))

  /** Sets the columns of a leg that identify records of the log, for a later leg that begins by offsets. Default: the
    * columns of the rule of that later leg.
    *
    * @param leg
    *   name of the leg
    */
  def logColumns(leg: String, columns: LogColumns): HybridSourceBuilder =
    option(s"$leg.${LogColumnsOption.Columns.key}", LogColumnsOption.text(columns))

  /** Sets the policy for offsets before the end of the history that no previous leg has. The hand-over of the leg must
    * be [[HandOver.Offsets]]. Default: `fill`. Example for a compacted or transactional topic:
    * `onHoles("live", "ignore")`.
    *
    * [[build]] rejects a value that is not allowed, a leg with another hand-over, and an unknown leg.
    *
    * @param leg
    *   name of the leg
    * @param policy
    *   `fill` reads these offsets from the log, `fail` ends the query with an error, and `ignore` skips these offsets
    */
  def onHoles(leg: String, policy: String): HybridSourceBuilder =
    option(s"$leg.${HandOverOptions.OnHoles.key}", policy)

  /** Sets the policy for records that neither the previous legs have nor the leg reads. The leg must have a hand-over.
    * Default: `fail`. Example: `onGap("live", "warn")`.
    *
    * [[build]] rejects a value that is not allowed, a leg without a hand-over, and an unknown leg.
    *
    * @param leg
    *   name of the leg
    * @param policy
    *   `fail` ends the query with an error, and `warn` continues with a warning and without these records
    */
  def onGap(leg: String, policy: String): HybridSourceBuilder = option(s"$leg.${HandOverOptions.OnGap.key}", policy)

  /** Sets the policy for records that the previous legs have several times. The hand-over of the leg must be
    * [[HandOver.Offsets]]. Default: `fail`. Example: `onDuplicates("live", "warn")`.
    *
    * [[build]] rejects a value that is not allowed, a leg with another hand-over, and an unknown leg.
    *
    * @param leg
    *   name of the leg
    * @param policy
    *   `fail` ends the query with an error, and `warn` continues with a warning
    */
  def onDuplicates(leg: String, policy: String): HybridSourceBuilder =
    option(s"$leg.${HandOverOptions.OnDuplicates.key}", policy)

  /** Sets an option of the hybrid source, such as `schema`, or an option of a leg with the prefix of the leg. The value
    * replaces the value of the source of the leg.
    */
  override def option(key: String, value: String): HybridSourceBuilder =
    new HybridSourceBuilder(names, legs, settings + (key -> value))

  /** Builds the source specification. Runs all checks that need no server or folder.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   with the name of the option, prefixed by its leg
    */
  def build(): SourceSpec = {
    val own     = settings.keySet.map(SourceOptions.fold)
    val options = ListMap(
      CommonOptions.Source.key -> HybridSourceProvider.Kind,
      HybridOptions.Legs.key   -> names.mkString(",")
    ) ++ legs.filterNot { case (key, _) => own(SourceOptions.fold(key)) } ++ settings
    val _ = SourceProvider.create(SourceOptions(options))
    SourceSpec(options)
  }

  private def add(
      name: String,
      source: SourceSpec,
      handOver: Option[HandOver],
      select: Option[String]
  ): HybridSourceBuilder = {
    val rule = handOver.toSeq.flatMap(_.options)
    val list = select.map(HybridOptions.Select.key -> _)
    val more = (source.options ++ rule ++ list).map { case (key, value) => s"$name.$key" -> value }
    new HybridSourceBuilder(names :+ name, legs ++ more, settings)
  }
}

private[hybrid] object HybridSourceBuilder {

  def first(name: String, source: SourceSpec, select: Option[String]): HybridSourceBuilder =
    new HybridSourceBuilder(Vector.empty, ListMap.empty, ListMap.empty).add(name, source, None, select)
}
