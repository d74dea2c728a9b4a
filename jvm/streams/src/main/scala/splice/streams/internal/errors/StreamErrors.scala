// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.errors

import splice.source.errors.{SpliceError, SpliceException, SpliceOptionException}
import splice.source.internal.ErrorConditions
import splice.source.options.SourceOptions.fold
import splice.streams.internal.options.{StreamOptions, StreamSettings}

/** Factory of all errors of the stream source. */
private[streams] object StreamErrors {

  private val conditions = new ErrorConditions("splice/streams/error-conditions.json")

  private val History = "Read the table as a bounded history with 'source' = 'table'"

  private val Kafkas = "Read the topics at the Kafka endpoint of the service with 'source' = 'kafka'"

  private val Instead = Map("delta" -> History, "hudi" -> History, "pulsar" -> Kafkas, "eventhubs" -> Kafkas)

  private def origin(of: StreamSettings) = Seq("stream" -> of.origin.toString, "option" -> of.name(of.origin.key))

  /** True if all known versions of a format implement only Spark's first streaming interface. */
  def isFirstVersion(format: String): Boolean = Instead.contains(fold(format))

  /** Error for a format that the session does not have. */
  def formatNotFound(of: StreamSettings): SpliceOptionException = conditions.option(
    "SPLICE_STREAM_OPTION.FORMAT_NOT_FOUND",
    "format" -> of.origin.name,
    "option" -> of.name(of.origin.key)
  )

  /** Error for a stream of Spark's first streaming interface, which cannot read a given range of offsets. */
  def firstVersion(of: StreamSettings): SpliceOptionException = notSupported(
    of,
    "its stream implements Spark's first streaming interface (StreamSourceProvider), which cannot read given offsets",
    Instead.getOrElse(
      fold(of.origin.name),
      s"$History, or use a connector with a Data Source V2 stream"
    )
  )

  def files(of: StreamSettings): SpliceOptionException =
    notSupported(of, "its files have no Data Source V2 stream", "Read the files with 'source' = 'files'")

  /** Error for Splice itself as the format. */
  def nested(of: StreamSettings): SpliceOptionException = notSupported(
    of,
    "the stream belongs to Splice",
    s"Remove '${of.name(of.origin.key)}', and set 'source' and the options of that source instead"
  )

  /** Error for a plan that is not one stream, such as a view with a filter. */
  def notAStream(of: StreamSettings): SpliceOptionException = notSupported(
    of,
    "it is not one Data Source V2 stream",
    "Name the table of a stream itself and not a view, and set columns and filters in 'select' or in the query"
  )

  private def notSupported(of: StreamSettings, reason: String, remedy: String): SpliceOptionException =
    conditions.option(
      "SPLICE_STREAM_OPTION.FORMAT_NOT_SUPPORTED",
      origin(of) ++ Seq("reason" -> reason, "remedy" -> remedy): _*
    )

  /** Error for `bounded` with a stream that cannot determine its end. */
  def endNotSupported(of: StreamSettings): SpliceOptionException = conditions.option(
    "SPLICE_STREAM_OPTION.END_NOT_SUPPORTED",
    "option" -> of.name(StreamOptions.Bounded.key),
    "stream" -> of.origin.toString
  )

  /** Error of Spark or of the format when the stream is opened. */
  def notReadable(of: StreamSettings, cause: Throwable): SpliceException = conditions.error(
    "SPLICE_STREAM.NOT_READABLE",
    cause,
    "stream" -> of.origin.toString,
    "reason" -> SpliceError.text(cause)
  )

  /** Error for a position of a hand-over that the stream cannot parse. */
  def invalidPosition(of: StreamSettings, position: String, cause: Throwable): SpliceException = conditions.error(
    "SPLICE_STREAM.INVALID_POSITION",
    cause,
    "stream"   -> of.origin.toString,
    "position" -> position,
    "reason"   -> SpliceError.text(cause)
  )
}
