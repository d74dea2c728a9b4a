// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

/** Says which streams there are, and on which clusters and topics each of them lies (FLIP-246's KafkaMetadataService).
  *
  * Called on the driver, by one thread at a time, which is not the query's: an answer may take as long as its own timeouts let it.
  * An answer that cannot be given is an exception; the query goes on with the last one.
  */
trait KafkaMetadataService extends AutoCloseable {

  /** All streams, as they are at one time. */
  def allStreams(): StreamMetadata

  /** The streams of these names, as they are at one time; what does not exist is left out. */
  def describeStreams(names: Set[String]): StreamMetadata = allStreams().only(names)

  /** Whether a cluster is thought to be usable. One that is not is left out of batches until it is, and nothing is lost by that. */
  def isClusterActive(cluster: String): Boolean

  override def close(): Unit = ()
}
