// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Names of the figures of a source in the query progress. Scala, Python and the documentation use this list. */
object ProgressMetric {

  /** Current leg (hybrid only). */
  val Leg = "leg"

  /** Text of the position, short enough for a table. */
  val Position = "position"

  /** Number of splits that the query reads. */
  val Splits = "splits"

  /** Number of unread rows. */
  val RowsBehind = "rowsBehind"

  /** Number of unread bytes. */
  val BytesBehind = "bytesBehind"

  /** Age of the oldest unread row, in seconds. Absent if the age is unknown. */
  val SecondsBehind = "secondsBehind"

  /** Least number of unread rows of a partition. The name is the same as in Spark's Kafka source (Kafka only). */
  val LeastBehind = "minOffsetsBehindLatest"

  /** Greatest number of unread rows of a partition. The name is the same as in Spark's Kafka source (Kafka only). */
  val MostBehind = "maxOffsetsBehindLatest"

  /** Average number of unread rows per partition. The name is the same as in Spark's Kafka source (Kafka only). */
  val MeanBehind = "avgOffsetsBehindLatest"

  /** Number of new rows per second since the last report. */
  val RowsArriving = "rowsArrivingPerSecond"

  /** JSON: for each topic partitions, rowsBehind, bytesBehind, secondsBehind and rowsArrivingPerSecond (Kafka only). */
  val Topics = "topics"

  /** JSON: the partitions with the most unread rows (Kafka only). */
  val Lagging = "lagging"

  /** Milliseconds that tasks spent in polls in this run (Kafka only). */
  val PollMs = "pollMsTotal"

  /** Milliseconds that fetch requests of tasks took in this run (Kafka only). */
  val FetchMs = "fetchMsTotal"

  /** Number of readers that tasks opened in this run (Kafka only). */
  val ReadersOpened = "readersOpenedTotal"

  /** Number of open readers that tasks reused in this run (Kafka only). */
  val ReadersReused = "readersReusedTotal"

  /** Number of slots of the last batch of a log. */
  val Slots = "slots"

  /** Number of times that a slot moved to another executor in this run. */
  val SlotMoves = "slotMovesTotal"

  /** Milliseconds since the last successful discovery of topics and partitions, or listing of a watched folder. */
  val DiscoveryAge = "discoveryAgeMs"

  /** Number of failed discoveries of topics and partitions, or listings of a watched folder, in this run. */
  val DiscoveryFailures = "discoveryFailuresTotal"

  /** Number of files at the paths of a watched folder that the options select, at the last listing (files only). */
  val FilesListed = "filesListed"

  /** Number of files of a watched folder that were read (files only). */
  val FilesRead = "filesRead"

  /** Least number of files in this run that were not read, because they are older than forgotten files (files only). */
  val FilesLate = "filesLateTotal"

  /** Number of changed files that listings found in this run, after the files were listed (files only). */
  val FilesChanged = "filesChangedTotal"

  /** Milliseconds since the last response of the metadata service, including invalid documents (several clusters only).
    */
  val MetadataAge = "metadataAgeMs"

  /** Number of failed requests to the metadata service in this run, without requests that returned an invalid document
    * (several clusters only).
    */
  val MetadataFailures = "metadataFailuresTotal"

  /** JSON: for each cluster splits, rowsBehind, bytesBehind, secondsBehind, rowsArrivingPerSecond, failuresTotal,
    * topicsWaiting, topicsDraining, available and responseAgeMs. A cluster that does not respond also has unavailableMs
    * (several clusters only).
    */
  val Clusters = "clusters"

  /** Number of changes of streams and clusters in this checkpoint (several clusters only). */
  val Change = "change"

  /** Generation of the applied metadata, if the metadata service sets generations (several clusters only). */
  val Generation = "generation"

  /** Number of metadata documents that were rejected in this run, including invalid documents (several clusters only).
    */
  val MetadataRejections = "metadataRejectionsTotal"

  /** JSON: the clusters that do not respond and whose response a pending change needs (several clusters only). */
  val Waiting = "metadataWaitsFor"

  /** JSON: groups of streams whose change in a metadata document is not applied yet. A group waits for responses of
    * clusters, or its part of the document is rejected (several clusters only).
    */
  val WaitingGroups = "waitingGroups"

  /** Number of topics that the metadata names and that do not exist (several clusters only). */
  val MissingTopics = "missingTopics"

  /** JSON: some of the missing topics, by stream (several clusters only). */
  val MissingTopicNames = "missingTopicNames"

  /** Number of unread rows of removed topics, without rows whose number is unknown. Kept for `removedRetention`
    * (several clusters only).
    */
  val RowsAbandoned = "rowsAbandoned"

  /** Number of removed topics that Splice abandoned with unread rows, in all runs of the checkpoint, including topics
    * whose number of unread rows is unknown. A topic counts once per event `topicAbandoned` (several clusters only).
    */
  val TopicsAbandoned = "topicsAbandonedTotal"

  /** Number of offsets that a policy skipped in this run (Kafka only). */
  val RowsSkipped = "rowsSkippedTotal"

  /** Number of offsets that wait because of a record that is too far in the future (Kafka with `admission=eventTime`
    * only).
    */
  val RowsHeld = "rowsHeld"

  /** Delay in milliseconds of a watermark on the column `timestamp` that would have dropped no row in this run. For
    * files, the delay that their order by event time needs (Kafka with `admission=eventTime`, and files with
    * `orderBy=eventTime`).
    */
  val DelayNeeded = "delayNeededMs"

  /** Number of rows that filled holes of the history in this run (Kafka only, after an exact hand-over). */
  val RowsFilled = "rowsFilledTotal"

  /** Number of unread offsets in holes of the history (Kafka only, after an exact hand-over). */
  val OffsetsToFill = "offsetsToFill"

  /** Median latency of the last batch in milliseconds, from the timestamp of a record until the reader returned the
    * record to Spark (real-time mode only).
    */
  val LatencyP50 = "latencyP50Ms"

  /** 95th percentile of the latency that [[LatencyP50]] describes. */
  val LatencyP95 = "latencyP95Ms"

  /** 99th percentile of the latency that [[LatencyP50]] describes. */
  val LatencyP99 = "latencyP99Ms"

  /** Number of switches from one leg to the next leg in this run (hybrid only). */
  val Switches = "switchesTotal"

  /** Milliseconds since the oldest record of the next log; of several partitions, the least age. As of the last check,
    * while a history is read (hybrid only).
    */
  val OldestRecordAge = "oldestRecordAgeMs"

  /** Totals that tasks report at their end. */
  private[splice] val OfTasks: Set[String] =
    Set(PollMs, FetchMs, ReadersOpened, ReadersReused, RowsSkipped, RowsFilled)

  /** Returns the name of a cluster, a topic or a query as one part of the name of a gauge. Replaces each dot with an
    * underscore.
    */
  def part(name: String): String = name.replace('.', '_')
}
