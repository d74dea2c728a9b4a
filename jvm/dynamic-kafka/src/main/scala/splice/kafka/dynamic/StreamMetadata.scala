// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.source.Limits
import splice.source.internal.Secrets

/** An answer of a [[KafkaMetadataService]].
  *
  * @param generation
  *   version of the document. Splice rejects a document with a lower one; None = the service has no versions
  * @param clusters
  *   how each cluster is reached, by the name that the service gives it
  * @param streams
  *   by name
  * @param confirmRemovals
  *   permits this metadata to remove topics above the limit of `maxRemovalFraction`: up to this number of topics within 24
  *   hours, including those that earlier metadata removed. None = the limit applies. The error
  *   `SPLICE_METADATA.REMOVAL_LIMIT_EXCEEDED` names the number to set. Example: `metadata.copy(confirmRemovals = Some(12))`
  */
final case class StreamMetadata(
    generation: Option[Long],
    clusters: SortedMap[String, KafkaCluster],
    streams: SortedMap[String, KafkaStream],
    confirmRemovals: Option[Int] = None
) {

  /** The same without other streams. All clusters remain, because removed topics may still be read from them. */
  def only(names: String => Boolean): StreamMetadata =
    copy(streams = streams.filter { case (name, _) => names(name) })

  /** The same without the cutovers of other streams. */
  private[dynamic] def moving(names: String => Boolean): StreamMetadata =
    copy(streams = streams.map { case (name, s) => name -> (if (names(name)) s else s.copy(cutover = None)) })

  /** The clusters that host topics of streams. */
  private[dynamic] def used: SortedMap[String, KafkaCluster] = {
    val names = streams.valuesIterator.flatMap(_.topics.keysIterator).toSet
    clusters.filter { case (name, _) => names(name) }
  }
}

object StreamMetadata {
  val Empty: StreamMetadata = StreamMetadata(None, SortedMap.empty, SortedMap.empty)
}

/** One stream to whoever reads it: topics on one cluster or on several.
  *
  * @param topics
  *   by the name of the cluster
  * @param cutover
  *   start of the new topics if the document moves the stream; None = as the option `cutover` sets
  * @param start
  *   where topics of the stream begin that no start is stored of; None = as the query sets. A cutover, and an option
  *   `stream.<name>.startingOffsets` of the query, take precedence
  * @param stop
  *   where Splice stops reading the stream. If later metadata removes or changes the stop, the topics resume at their positions
  * @param paused
  *   whether Splice reads no row of the stream. The topics keep their positions
  */
final case class KafkaStream(
    name: String,
    topics: SortedMap[String, SortedSet[String]],
    cutover: Option[StreamCutover] = None,
    start: Option[StreamPlace] = None,
    stop: Option[StreamPlace] = None,
    paused: Boolean = false
)

/** How a cluster is reached.
  *
  * @param properties
  *   of the Kafka client, `bootstrap.servers` among them; secrets as references such as `${file:/run/secrets/kafka:password}`
  * @param active
  *   whether Splice reads the cluster. A cluster that is not active receives no requests, and no row of it is lost
  * @param formerly
  *   earlier names of the cluster. If the query knows one of them, it continues at the positions of that cluster
  * @param maxOffsetsPerTrigger
  *   maximum number of offsets that a batch reads of the cluster, 1 or more
  * @param maxBytesPerTrigger
  *   maximum estimated bytes of keys and values that a batch reads of the cluster, 1 or more
  */
final case class KafkaCluster(
    name: String,
    properties: SortedMap[String, String],
    active: Boolean = true,
    formerly: Seq[String] = Nil,
    maxOffsetsPerTrigger: Option[Long] = None,
    maxBytesPerTrigger: Option[Long] = None
) {

  private[dynamic] def limits: Limits.Limited =
    Limits.Limited(rows = maxOffsetsPerTrigger, bytes = maxBytesPerTrigger)

  override def toString: String = {
    val shown = properties.map { case (k, v) => s"$k=${Secrets.redact(k, v)}" } ++
      Option.when(!active)("active=false") ++
      maxOffsetsPerTrigger.map(n => s"maxOffsetsPerTrigger=$n") ++ maxBytesPerTrigger.map(n => s"maxBytesPerTrigger=$n")
    shown.mkString(s"KafkaCluster($name, ", ", ", ")")
  }
}
