// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.util.{ServiceConfigurationError, ServiceLoader}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

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

  /** True if a key is the name of an option that a source with the options `of` reads. */
  private[splice] def isOption(key: String, of: SourceOptions): Boolean =
    options.has(key) || CommonOptions.set.has(key) || of.contains(key)

  /** Keys of the options that set the start of reading. */
  def startOptions: Set[String] = Set.empty

  /** Returns the name of a set option that defines the start of reading; None if no such option is set. A leg with a
    * hand-over must not set such an option.
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

  private val logger = LoggerFactory.getLogger(classOf[SourceProvider])

  // A class loader whose files cannot be read fails at each step.
  private val MaxFailures = 20

  /** Returns all registered connectors, sorted by kind.
    *
    * The method searches Splice's class loader and the context class loader of the thread. Only the context class
    * loader has a connector from `--packages` if Splice is in the folder `jars` of Spark. The same applies
    * to a connector in a jar that a session of Spark Connect or a notebook added.
    */
  def all: Seq[SourceProvider] = {
    val own     = classOf[SourceProvider].getClassLoader
    val context = Option(Thread.currentThread.getContextClassLoader).filter(loader => loader != own && isShared(loader))
    // The context class loader also returns the connectors of its parents.
    (ServiceLoader.load(classOf[SourceProvider], own).asScala.toSeq ++ context.toSeq.flatMap(loadable))
      .distinctBy(_.getClass.getName).sortBy(_.kind)
  }

  /** Returns the connectors of the context class loader. A connector that cannot be loaded, for example because its jar
    * is built for another version of Splice, does not prevent the use of the other connectors.
    */
  private def loadable(loader: ClassLoader): Seq[SourceProvider] = {
    val services = ServiceLoader.load(classOf[SourceProvider], loader).iterator
    @tailrec def next(found: Vector[SourceProvider], failures: Int): Seq[SourceProvider] = {
      val one =
        try if (services.hasNext) Right(Some(services.next())) else Right(None)
        catch { case e @ (_: ServiceConfigurationError | _: LinkageError) => Left(e) }
      one match {
        case Right(None)           => found
        case Right(Some(provider)) => next(found :+ provider, failures)
        case Left(e)               =>
          logger.warn(s"A connector on the class path of the session cannot be loaded: $e")
          if (failures < MaxFailures) next(found, failures + 1) else found
      }
    }
    next(Vector.empty, 0)
  }

  // A loader with another copy of Splice, or without Splice, would load connectors of another type.
  private def isShared(loader: ClassLoader): Boolean =
    try loader.loadClass(classOf[SourceProvider].getName) == classOf[SourceProvider]
    catch { case _: ClassNotFoundException | _: LinkageError => false }

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
