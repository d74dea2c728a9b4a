// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import org.yaml.snakeyaml.events.Event.ID
import org.yaml.snakeyaml.events.{CollectionEndEvent, CollectionStartEvent, Event, NodeEvent}
import org.yaml.snakeyaml.parser.Parser

import splice.kafka.dynamic.internal.errors.MetadataErrors

/** Limits of one document in addition to its size ([[MetadataText.Longest]]), for a driver with a heap of 1 GiB.
  *
  * A parsed value needs about 250 bytes of heap, many times its size in the text.
  */
final private[splice] class DocumentLimits(document: String) {

  import DocumentLimits._

  private var values = 0
  private var read   = 0L
  private var depth  = 0

  def count(line: Int): Unit = {
    values += 1
    if (values > Values) throw MetadataErrors.invalid(
      document,
      line,
      "",
      s"the document has more than $Values names and values, with aliases expanded. Remove unused streams"
    )
  }

  /** Counts the characters of a name or value. An alias repeats the characters of its anchor in the checkpoint. */
  def characters(line: Int, number: Int): Unit = {
    read += number
    if (read > MetadataText.Longest) throw MetadataErrors.invalid(
      document,
      line,
      "",
      s"the names and values have more than ${MetadataText.Longest} characters, with aliases expanded. Shorten the " +
        "values that an alias repeats, or move properties of clusters to the options of the query"
    )
  }

  def enter(line: Int): Unit = {
    depth += 1
    if (depth > Depth)
      throw MetadataErrors.invalid(document, line, "", s"objects and lists are nested in more than $Depth levels")
  }

  def leave(): Unit = depth -= 1
}

private[splice] object DocumentLimits {
  val Values = 250000
  val Depth  = 20
}

/** Stops the parser at the first value that exceeds the limits, before the composer stores it. */
final private[splice] class LimitedParser(parser: Parser, limits: DocumentLimits) extends Parser {

  override def checkEvent(choice: ID): Boolean = parser.checkEvent(choice)

  override def peekEvent(): Event = parser.peekEvent()

  override def getEvent(): Event = {
    val event = parser.getEvent()
    def line  = event.getStartMark.getLine + 1
    event match {
      case _: CollectionStartEvent =>
        limits.count(line)
        limits.enter(line)
      case _: NodeEvent          => limits.count(line)
      case _: CollectionEndEvent => limits.leave()
      case _                     => ()
    }
    event
  }
}
