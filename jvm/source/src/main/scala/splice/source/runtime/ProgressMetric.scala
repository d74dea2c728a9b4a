// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Names of a source's figures in the query progress; one list for Scala, Python and the docs. */
object ProgressMetric {

  /** The leg being read (hybrid only). */
  val Leg = "leg"

  /** The position, in words short enough for a table. */
  val Position = "position"

  /** Splits that are being read. */
  val Splits = "splits"

  /** Rows known to exist and not read yet. */
  val RowsBehind = "rowsBehind"

  /** Bytes known to exist and not read yet. */
  val BytesBehind = "bytesBehind"

  /** How long ago the oldest row came that is not read yet, in seconds, as far as that is known. */
  val SecondsBehind = "secondsBehind"

  /** Rows that the partition that is least behind is behind: the name in Spark's own Kafka source (Kafka only). */
  val LeastBehind = "minOffsetsBehindLatest"

  /** Rows that the partition that is most behind is behind: the name in Spark's own Kafka source (Kafka only). */
  val MostBehind = "maxOffsetsBehindLatest"

  /** Rows that a partition is behind on average: the name in Spark's own Kafka source (Kafka only). */
  val MeanBehind = "avgOffsetsBehindLatest"

  /** Rows a second that came since the last report. */
  val RowsArriving = "rowsArrivingPerSecond"

  /** JSON: for each topic partitions, rowsBehind, bytesBehind, secondsBehind and rowsArrivingPerSecond (Kafka only). */
  val Topics = "topics"

  /** JSON: the partitions that are furthest behind (Kafka only). */
  val Lagging = "lagging"

  /** Milliseconds that tasks spent in polls in this run (Kafka only). */
  val PollMs = "pollMsTotal"

  /** Milliseconds that fetch requests of tasks took in this run (Kafka only). */
  val FetchMs = "fetchMsTotal"

  /** Readers that tasks made in this run (Kafka only). */
  val ReadersOpened = "readersOpenedTotal"

  /** Readers that tasks found open in this run (Kafka only). */
  val ReadersReused = "readersReusedTotal"

  /** The number of slots of the last batch of a log. */
  val Slots = "slots"

  /** How many times a slot was read on another executor than before, in this run. */
  val SlotMoves = "slotMovesTotal"

  /** Milliseconds since the last successful discovery of topics and partitions (Kafka only). */
  val DiscoveryAge = "discoveryAgeMs"

  /** Failed discoveries of topics and partitions in this run (Kafka only). */
  val DiscoveryFailures = "discoveryFailuresTotal"

  /** Milliseconds since the last response of the metadata service (several clusters only). */
  val MetadataAge = "metadataAgeMs"

  /** Failed requests to the metadata service in this run (several clusters only). */
  val MetadataFailures = "metadataFailuresTotal"

  /** JSON: for each cluster splits, rowsBehind, bytesBehind, secondsBehind, rowsArrivingPerSecond, failuresTotal, topicsWaiting,
    * topicsDraining, available, responseAgeMs and, while it does not respond, unavailableMs (several clusters only).
    */
  val Clusters = "clusters"

  /** How many changes of streams and clusters this checkpoint has seen (several clusters only). */
  val Change = "change"

  /** The generation of the streams' metadata that holds, where the metadata service counts (several clusters only). */
  val Generation = "generation"

  /** Answers of the metadata service that were not applied, in this run (several clusters only). */
  val UnsupportedInSelect = "metadataRejectionsTotal"

  /** JSON: the clusters that must be asked before a change is made, and that do not answer (several clusters only). */
  val Waiting = "metadataWaitsFor"

  /** JSON: groups of streams that a document changes and that are still read as before, because they wait for responses of clusters, or
    * because their part of the document is rejected (several clusters only).
    */
  val WaitingGroups = "waitingGroups"

  /** The number of topics that the metadata names and that do not exist (several clusters only). */
  val MissingTopics = "missingTopics"

  /** JSON: some of these topics, by stream (several clusters only). */
  val MissingTopicNames = "missingTopicNames"

  /** JSON: the streams that the metadata pauses (several clusters only). */
  val StreamsPaused = "streamsPaused"

  /** Rows of removed topics that were not read, as far as their number is known, until `removedRetention` (several clusters only). */
  val RowsAbandoned = "rowsAbandoned"

  /** Offsets that a policy skipped, in this run (Kafka only). */
  val RowsSkipped = "rowsSkippedTotal"

  /** Rows that filled holes of the history, in this run (Kafka only, after an exact hand-over). */
  val RowsFilled = "rowsFilledTotal"

  /** Offsets in holes of the history that are still to be read (Kafka only, after an exact hand-over). */
  val OffsetsToFill = "offsetsToFill"

  /** Milliseconds from the timestamp of a record until the reader returned it to Spark: the median of the last batch (real-time mode only). */
  val LatencyP50 = "latencyP50Ms"

  /** The same for 95 of 100 records. */
  val LatencyP95 = "latencyP95Ms"

  /** The same for 99 of 100 records. */
  val LatencyP99 = "latencyP99Ms"

  /** Switches from one leg to the next in this run (hybrid only). */
  val Switches = "switchesTotal"

  /** A name of a cluster, a topic or a query as one part of the name of a gauge. */
  def part(name: String): String = name.replace('.', '_')
}
