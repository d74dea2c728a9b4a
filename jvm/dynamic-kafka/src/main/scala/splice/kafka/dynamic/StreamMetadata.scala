// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.source.Limits
import splice.source.internal.Secrets

/** Response of a [[KafkaMetadataService]].
  *
  * @param generation
  *   version of the document. Splice rejects a document with a lower version; None = the service has no versions
  * @param clusters
  *   the clusters, by the name that the service uses
  * @param streams
  *   the streams, by name
  * @param confirmRemovals
  *   permits this metadata to remove topics above the limit of `maxRemovalFraction`: up to this number of topics.
  *   None = the limit applies. The error `SPLICE_METADATA.REMOVAL_LIMIT_EXCEEDED` contains the number to set. Example:
  *   `metadata.copy(confirmRemovals = Some(12))`
  */
final case class StreamMetadata(
    generation: Option[Long],
    clusters: SortedMap[String, KafkaCluster],
    streams: SortedMap[String, KafkaStream],
    confirmRemovals: Option[Int] = None
) {

  /** Returns the metadata without the other streams. All clusters remain, because Splice may still read removed topics
    * of these clusters.
    */
  def only(names: String => Boolean): StreamMetadata =
    copy(streams = streams.filter { case (name, _) => names(name) })

  /** Returns the clusters that host topics of streams. */
  private[dynamic] def used: SortedMap[String, KafkaCluster] = {
    val names = streams.valuesIterator.flatMap(_.topics.keysIterator).toSet
    clusters.filter { case (name, _) => names(name) }
  }
}

object StreamMetadata {
  val Empty: StreamMetadata = StreamMetadata(None, SortedMap.empty, SortedMap.empty)
}

/** One logical stream: topics on one cluster or on several clusters.
  *
  * @param topics
  *   topics by the name of the cluster
  * @param cutover
  *   start of the new topics if the document moves the stream; None = as the option `cutover` sets
  * @param start
  *   start of topics of the stream that have no stored start; None = as the query sets. A cutover, and an option
  *   `stream.<name>.startingOffsets` of the query, take precedence
  * @param stop
  *   position where Splice stops reading the stream. If later metadata removes or changes the stop, the topics resume
  *   at their positions
  */
final case class KafkaStream(
    name: String,
    topics: SortedMap[String, SortedSet[String]],
    cutover: Option[Place] = None,
    start: Option[Place] = None,
    stop: Option[Place] = None
)

/** Connection and limits of a cluster.
  *
  * @param properties
  *   properties of the Kafka client, including `bootstrap.servers`. The checkpoint stores the properties, so secrets are
  *   references such as `${file:/run/secrets/kafka:password}`
  * @param active
  *   true if Splice reads the cluster. An inactive cluster receives no requests, and no row of it is lost
  * @param maxOffsetsPerTrigger
  *   maximum number of offsets that a batch reads of the cluster, 1 or more
  * @param maxBytesPerTrigger
  *   maximum estimated bytes of keys and values that a batch reads of the cluster, 1 or more
  * @param credentials
  *   name of client properties in the options of the query, `credentials.<name>.kafka.<property>`. Other properties of
  *   this cluster take precedence. None = no such properties
  */
final case class KafkaCluster(
    name: String,
    properties: SortedMap[String, String],
    active: Boolean = true,
    maxOffsetsPerTrigger: Option[Long] = None,
    maxBytesPerTrigger: Option[Long] = None,
    credentials: Option[String] = None
) {

  /** Returns true if clients of both clusters have the same properties. */
  private[dynamic] def connectsAs(other: KafkaCluster): Boolean =
    properties == other.properties && credentials == other.credentials

  private[dynamic] def limits: Limits.Limited =
    Limits.Limited(rows = maxOffsetsPerTrigger, bytes = maxBytesPerTrigger)

  override def toString: String = {
    val shown = properties.map { case (k, v) => s"$k=${Secrets.redact(k, v)}" } ++
      Option.when(!active)("active=false") ++ credentials.map(name => s"credentials=$name") ++
      maxOffsetsPerTrigger.map(n => s"maxOffsetsPerTrigger=$n") ++ maxBytesPerTrigger.map(n => s"maxBytesPerTrigger=$n")
    shown.mkString(s"KafkaCluster($name, ", ", ", ")")
  }
}
