// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

/** Maps streams to clusters and topics (FLIP-246's KafkaMetadataService).
  *
  * The options `metadata=class` and `metadata.class` select a class that implements this trait. The class has a public
  * constructor without parameters, or with one `java.util.Map<String, String>` of all options that begin with
  * `metadata.`. `DynamicKafkaSourceBuilder.metadataService` accepts an object. Splice also implements the trait for
  * files, HTTP endpoints, Python functions and single clusters.
  *
  * Splice polls the service every `discoveryInterval`. Each query has a separate driver thread for these polls. The
  * same thread creates the instance of `metadata.class`, and closes it when the query ends. Splice interrupts a call
  * that is still running at that time. A call may take as long as the service needs: the query reads the streams of the
  * last response until the next response arrives. If the service throws an exception, the query continues with the last
  * response. The query fails after `metadata.failureTimeout` without a response. Invalid metadata is a response: the
  * query continues with the previous metadata until the service returns valid metadata.
  *
  * The service is code of the job and has the rights of the job. Therefore `metadataProperties` does not limit the
  * client properties that the service sets. The checkpoint stores the response, so Splice rejects literal secrets.
  *
  * {{{
  * final class Inventory extends KafkaMetadataService {
  *   override def allStreams(): StreamMetadata = StreamMetadata(
  *     generation = Some(7),
  *     clusters = SortedMap("east" -> KafkaCluster("east", SortedMap("bootstrap.servers" -> "east-1:9092"))),
  *     streams = SortedMap("orders" -> KafkaStream("orders", SortedMap("east" -> SortedSet("orders"))))
  *   )
  * }
  * }}}
  */
trait KafkaMetadataService extends AutoCloseable {

  /** Returns all clusters and streams, as of one point in time. */
  def allStreams(): StreamMetadata

  /** Returns all clusters, and the streams of these names that exist, as of one point in time. The default filters
    * [[allStreams]].
    */
  def describeStreams(names: Set[String]): StreamMetadata = allStreams().only(names)

  /** Returns true if Splice may send requests to a cluster that the last response did not contain. The default returns
    * None, because the response contains all clusters.
    */
  private[dynamic] def isUnlistedActive(cluster: String): Option[Boolean] = None

  /** Releases connections and threads. The default does nothing. */
  override def close(): Unit = ()
}
