// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

/** File `offsets/<n>` of a checkpoint: the version, the metadata of the batch, and one line per source.
  *
  * In version 1, the number of a source is the number of its line. In later versions, a line begins with the name of its
  * source.
  */
final private[spark] case class OffsetFile(lines: Seq[String]) {

  import OffsetFile._

  private def isNumbered = lines.headOption.contains("v1")

  /** True for an epoch of continuous mode. Spark logs no metadata for an epoch. */
  def isEpoch: Boolean = lines.lift(1).exists(_.isBlank)

  /** True if the file has a version, metadata and one line per source. */
  def isComplete: Boolean = lines.headOption.exists(_.matches("v\\d+")) && lines.size > Head

  /** Names of the sources in their order. */
  def sources: Seq[String] = lines.drop(Head).zipWithIndex.map { case (line, number) =>
    if (isNumbered) number.toString else line.takeWhile(_ != ':')
  }

  /** Returns the offset of a source. None if the source is unknown, or if the source had no offset in the batch. */
  def position(source: String): Option[String] = {
    val index = sources.indexOf(source)
    Option.when(index >= 0)(lines(Head + index).drop(prefix(source).length)).filter(_ != Nothing)
  }

  private def prefix(source: String) = if (isNumbered) "" else s"$source:"
}

private[spark] object OffsetFile {

  // The number of lines before the offsets: the version, and the metadata of the batch.
  private val Head = 2

  // The text of the offset log for a source from which a batch reads nothing.
  private val Nothing = "-"

  def read(text: String): OffsetFile = OffsetFile(text.linesIterator.toSeq)
}
