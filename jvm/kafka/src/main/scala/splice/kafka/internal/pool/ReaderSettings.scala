// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration

import splice.kafka.internal.options.{ClientProperties, RackFrom, TopicRecreated}

/** The options of a source that readers need.
  *
  * @param failOnDataLoss
  *   true if a log that ends before the end of a planned range is an error
  * @param failOutOfRange
  *   true if a log that begins after the start of a planned range is an error; otherwise the remaining offsets are read
  * @param reportKey
  *   identifies the enumerator that receives the reports
  * @param recreated
  *   the policy for a planned range whose topic was recreated before the range is read
  * @param retries
  *   the number of repetitions of a request whose response is suspicious, `retryInterval` apart
  * @param failRemoved
  *   true if a planned range of a deleted topic is an error
  * @param bufferBytes
  *   the memory for all readers of one JVM, if the query sets it
  * @param planned
  *   the number of partitions of each topic, if a batch without ends reads all partitions of the topic
  * @param waits
  *   true if a reader waits for a cluster until its task ends, because some task of the batch reads without an end
  * @param isTimed
  *   true if readers report the least and the greatest time of the records
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
    waits: Boolean = false,
    isTimed: Boolean = false
)
