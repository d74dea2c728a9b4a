// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._

import splice.source.errors.OptionErrors
import splice.source.options.{CommonOptions, OptionSet, SourceOptions}
import splice.source.runtime.{HistoryEvent, SideLog}

/** Registers a connector: listed in `META-INF/services/splice.source.SourceProvider`, found by [[ServiceLoader]]. */
trait SourceProvider {

  /** What the option `source` says: `files`, `kafka`, `hybrid`. */
  def kind: String

  /** Every option that the connector knows. */
  def options: OptionSet

  /** Keys of the options that say where reading starts. */
  def startOptions: Set[String] = Set.empty

  /** One of the options that are set and say where reading starts; a leg with a hand-over may set none. */
  def startOption(options: SourceOptions): Option[String] = startOptions.toSeq.sorted.find(options.contains)

  /** Defaults of options, as key and text, for a leg that another leg follows.
    *
    * @param options
    *   what the user has set of the leg
    */
  def beforeAnotherLeg(options: SourceOptions): Seq[(String, String)] = Nil

  /** Checks the options and makes the source. Talks to no server and lists no folder. */
  def create(options: SourceOptions): Source[_ <: Position]
}

/** A connector whose sources write events into the side log. */
trait KeepsHistory { this: SourceProvider =>

  /** The events in a side log, oldest first; none if the log is another source's. */
  def history(log: SideLog): Seq[HistoryEvent]
}

object SourceProvider {

  /** All registered connectors, sorted by kind. */
  def all: Seq[SourceProvider] =
    ServiceLoader.load(classOf[SourceProvider], classOf[SourceProvider].getClassLoader).asScala.toSeq.sortBy(_.kind)

  /** The connector of a kind.
    *
    * @throws SpliceOptionException
    *   when `options` name none, or one that is not on the class path
    */
  def of(options: SourceOptions): SourceProvider = {
    val kind  = options(CommonOptions.Source)
    val known = all
    known.find(_.kind == kind).getOrElse {
      throw OptionErrors.invalidValue(
        options.name(CommonOptions.Source.key),
        kind,
        known.map(_.kind).mkString(", "),
        CommonOptions.Source.doc
      )
    }
  }

  /** Checks `options` against what the connector knows and makes the source. */
  def create(options: SourceOptions): Source[_ <: Position] = {
    val provider = of(options)
    provider.options.refuseUnknown(options)
    // The coordinator reads them later, when a query starts.
    CommonOptions.ofQuery.foreach(options.find(_))
    provider.create(options)
  }
}
