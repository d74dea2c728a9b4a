// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import scala.collection.immutable.SortedMap
import scala.util.Try

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.StructType

import splice.source.internal.Secrets
import splice.source.options.CommonOptions
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, Source, SplitEnumerator}
import splice.streams.internal.enumerator.StreamEnumerator
import splice.streams.internal.inner.InnerTable
import splice.streams.internal.options.{StreamOptions, StreamSettings}
import splice.streams.internal.split.StreamPosition

/** Source of any Data Source V2 micro-batch stream, such as Iceberg or a Python data source.
  *
  * The wrapped stream uses the active session of the query's thread, and keeps its files in the folder `spark` of the
  * side log. [[splice.streams.internal.options.StreamOptions]] defines the options. All other options are passed to the
  * wrapped stream.
  */
final class StreamSource private[streams] (settings: StreamSettings) extends Source[StreamPosition] {

  @transient private lazy val table = InnerTable.resolve(settings)

  override def kind: String = StreamSource.Kind

  override def boundedness: Boundedness =
    if (settings.isBounded) Boundedness.Bounded else Boundedness.ContinuousUnbounded

  override def schema: StructType = table.schema

  override def identity: SortedMap[String, String] =
    SortedMap(settings.origin.key -> settings.origin.name) ++
      settings.inner.collectFirst {
        case (key, path) if key.equalsIgnoreCase(StreamSource.Path) =>
          StreamSource.Path -> Secrets.redact(StreamSource.Path, path)
      }

  override def position(json: String): StreamPosition = StreamPosition.read(json)

  override def enumerator(context: EnumeratorContext): SplitEnumerator[StreamPosition] =
    new StreamEnumerator(table, settings, context)

  // The partitions of a batch decide whether the batch is columnar.
  override def mayBeColumnar: Boolean = true

  override def beginsByTime: Boolean = false

  override def beginsByPosition: Boolean = true

  override def schemaNeedsStorage: Boolean = true

  // The connector of an ended leg may be missing.
  override def taskMetrics: Seq[CustomMetric] =
    Try(table.scan().supportedCustomMetrics.toSeq).getOrElse(Nil)
}

object StreamSource {

  private[streams] val Kind = "stream"

  private val Path = "path"

  /** Begins the definition of a stream.
    *
    * @param format
    *   format as in `spark.readStream.format`
    */
  def builder(format: String): StreamSourceBuilder = begin(StreamOptions.Format.key, format)

  /** Begins the definition of a stream over a table of a catalog, as in `spark.readStream.table`. */
  def table(name: String): StreamSourceBuilder = begin(StreamOptions.Table.key, name)

  private def begin(key: String, value: String) =
    new StreamSourceBuilder(Seq(CommonOptions.Source.key -> Kind, key -> value))
}
