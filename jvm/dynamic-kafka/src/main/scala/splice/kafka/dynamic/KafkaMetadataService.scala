// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

/** Maps streams to clusters and topics (FLIP-246's KafkaMetadataService).
  *
  * The options `metadata=class` and `metadata.class` name a class that implements it, with a public constructor that has no parameters, or
  * one `java.util.Map<String, String>` of all options that begin with `metadata.`. `DynamicKafkaSourceBuilder.metadataService` takes an
  * object. Splice also implements it for files, HTTP endpoints, Python functions and single clusters.
  *
  * Splice polls the service every `discoveryInterval`, on one thread of the driver per query that is not the query's thread. The same
  * thread creates an instance of `metadata.class`, and closes it when the query ends; Splice interrupts a call that has not ended then. A
  * response may take as long as the service needs: the query reads the streams of the last response until the next one arrives. If the
  * service throws an exception, the query continues with the last response, and fails after `metadata.failureTimeout` without a response.
  *
  * The service is code of the job and has the rights of the job, so `metadataProperties` does not limit which client properties it sets. The
  * checkpoint stores the response, so `allowLiteralSecrets` applies to it.
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

  /** Returns all clusters and streams as they are at one time. */
  def allStreams(): StreamMetadata

  /** Returns the clusters, and the streams of these names that exist, as they are at one time. The default filters [[allStreams]]. */
  def describeStreams(names: Set[String]): StreamMetadata = allStreams().only(names)

  /** Releases connections and threads. The default does nothing. */
  override def close(): Unit = ()
}
