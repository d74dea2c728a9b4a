// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration

import splice.kafka.options.{ClientProperties, RackFrom, TopicRecreated}

/** Readers are alike when their query's run, what their client was made of, and their slot are the same. */
final private[splice] case class ReaderKey(run: String, client: ClientProperties, slot: Option[Int]) {

  /** Whether readers of the other key differ in their slot only. */
  def isAlike(other: ReaderKey): Boolean = run == other.run && client == other.client
}

/** What readers need to know of a source's options.
  *
  * @param failOnDataLoss
  *   whether a log that ends before the end of what was planned is an error
  * @param failOutOfRange
  *   whether a log that begins after the start of what was planned is one; else what is left of the range is read
  * @param reportKey
  *   names the enumerator that takes their reports
  * @param recreated
  *   what becomes of a planned range whose topic is another one by the time that it is read
  * @param retries
  *   how often a question is asked again whose answer is suspicious, `retryInterval` apart
  * @param failRemoved
  *   whether a planned range whose topic is deleted is an error
  * @param bufferBytes
  *   the bytes that all readers of one JVM may hold, if the query sets them
  * @param planned
  *   the number of partitions of each topic that a batch without ends reads all partitions of
  * @param waits
  *   whether a reader waits for a cluster as long as its task lasts, because its task or other tasks of the batch read without an end
  */
final private[splice] case class ReaderSettings(
    client: ClientProperties,
    failOnDataLoss: Boolean,
    pollTimeout: Duration,
    idleTimeout: Duration,
    failOutOfRange: Boolean,
    rackFrom: RackFrom = RackFrom.Nowhere,
    reportKey: String = "",
    recreated: TopicRecreated = TopicRecreated.Fail,
    retries: Int = 3,
    retryInterval: Duration = Duration.ofMillis(10),
    failRemoved: Boolean = true,
    bufferBytes: Option[Long] = None,
    planned: Map[String, Int] = Map.empty,
    waits: Boolean = false
)
