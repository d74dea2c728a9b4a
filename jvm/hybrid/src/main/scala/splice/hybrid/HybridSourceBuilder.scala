// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.ListMap

import splice.hybrid.internal.options.{HybridOptions, LogColumnsOption}
import splice.source.options.{CommonOptions, OptionSetters, SourceOptions}
import splice.source.{SourceProvider, SourceSpec}

/** Builds a hybrid, leg by leg; immutable, each call gives a new builder. */
final class HybridSourceBuilder private (
    names: Vector[String],
    legs: ListMap[String, String],
    own: ListMap[String, String]
) extends OptionSetters[HybridSourceBuilder] {

  /** Adds a leg that starts where its source says. */
  def addSource(name: String, source: SourceSpec): HybridSourceBuilder = add(name, source, None, None)

  /** Adds a leg that takes over from the one before by a rule. */
  def addSource(name: String, source: SourceSpec, handOver: HandOver): HybridSourceBuilder =
    add(name, source, Option(handOver), None)

  /** Adds a leg that takes over by a rule, with a SELECT list over its source's rows. */
  def addSource(name: String, source: SourceSpec, handOver: HandOver, select: String): HybridSourceBuilder =
    add(name, source, Option(handOver), Option(select))

  /** Adds a leg that starts where its source says, with a SELECT list over its source's rows. */
  def addSource(name: String, source: SourceSpec, select: String): HybridSourceBuilder =
    add(name, source, None, Option(select))

  /** Sets which columns of a leg name the records of the log, for a later leg that begins by offsets. By default they are the columns that
    * the rule of that leg names.
    *
    * @param leg
    *   the name of the leg
    */
  def logColumns(leg: String, columns: LogColumns): HybridSourceBuilder =
    option(s"$leg.${LogColumnsOption.Columns.key}", LogColumnsOption.text(columns))

  /** Sets an option of the whole hybrid, such as `schema`. */
  override def option(key: String, value: String): HybridSourceBuilder =
    new HybridSourceBuilder(names, legs, own + (key -> value))

  /** Checks all that can be checked without a server or a folder.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   that names the option, with its leg in front
    */
  def build(): SourceSpec = {
    val options = ListMap(
      CommonOptions.Source.key -> HybridProvider.Kind,
      HybridOptions.Legs.key   -> names.mkString(",")
    ) ++ own ++ legs
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
    new HybridSourceBuilder(names :+ name, legs ++ more, own)
  }
}

private[hybrid] object HybridSourceBuilder {

  def first(name: String, source: SourceSpec, select: Option[String]): HybridSourceBuilder =
    new HybridSourceBuilder(Vector.empty, ListMap.empty, ListMap.empty).add(name, source, None, select)
}
