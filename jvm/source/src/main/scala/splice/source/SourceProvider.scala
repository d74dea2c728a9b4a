// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._

import splice.source.errors.OptionErrors
import splice.source.options.{CommonOptions, OptionSet, SourceOptions}
import splice.source.runtime.{HistoryEvent, SideLog}

/** Registers a connector. The file `META-INF/services/splice.source.SourceProvider` lists the class, and
  * [[ServiceLoader]] loads the class.
  */
trait SourceProvider {

  /** Value of the option `source` that selects the connector: `files`, `kafka`, `hybrid`. */
  def kind: String

  /** All options of the connector. */
  def options: OptionSet

  /** Keys of the options that set the start of reading. */
  def startOptions: Set[String] = Set.empty

  /** Returns an option that is set and that sets the start of reading, if there is one. A leg with a hand-over must not
    * set such an option.
    */
  def startOption(options: SourceOptions): Option[String] = startOptions.toSeq.sorted.find(options.contains)

  /** Returns default options, as pairs of key and text, for a leg that another leg follows.
    *
    * @param options
    *   options that the user has set for the leg
    */
  def beforeAnotherLeg(options: SourceOptions): Seq[(String, String)] = Nil

  /** Checks the options and creates the source. Sends no request and lists no folder. */
  def create(options: SourceOptions): Source[_ <: Position]
}

/** Connector whose sources write events to the side log. */
trait KeepsHistory { this: SourceProvider =>

  /** Returns the events in a side log, oldest first. Returns no event if the side log belongs to another source. */
  def history(log: SideLog): Seq[HistoryEvent]
}

object SourceProvider {

  /** Returns all registered connectors, sorted by kind. */
  def all: Seq[SourceProvider] =
    ServiceLoader.load(classOf[SourceProvider], classOf[SourceProvider].getClassLoader).asScala.toSeq.sortBy(_.kind)

  /** Returns the connector that the option `source` selects.
    *
    * @throws SpliceOptionException
    *   if the option `source` is not set, or if its connector is not on the class path
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

  /** Checks `options` against the options of the connector and creates the source. */
  def create(options: SourceOptions): Source[_ <: Position] = {
    val provider = of(options)
    provider.options.rejectUnknown(options)
    // The coordinator reads these options later, when a query starts. Invalid values must fail here.
    CommonOptions.ofQuery.foreach(options.find(_))
    provider.create(options)
  }
}
