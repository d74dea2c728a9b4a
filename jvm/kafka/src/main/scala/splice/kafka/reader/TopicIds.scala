// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

/** Makes sure that what a consumer has fetched is of the topics that were planned. Used by one thread at a time, but `cancel`.
  *
  * A consumer fetches by topic id (KIP-516), and has ids from metadata responses only. So ids that are found to be right after the last
  * response are right until the next one, and most polls cost two comparisons.
  *
  * @param responses
  *   how many metadata responses the consumer has had
  * @param ask
  *   the ids that topics have now, given what they should be; topics that are not there are left out
  */
final private[splice] class TopicIds(responses: () => Long, ask: TopicIds.Question) {

  // The id of a topic that was read, and up to which response it is known to be right.
  private var known  = Map.empty[String, (String, Long)]
  private var agreed = Map.empty[String, String]
  private var at     = -1L

  /** Whether what the consumer may have fetched already is of these topics, as far as it has read any of them. */
  def allow(planned: Map[String, String]): Boolean =
    planned.forall { case (topic, id) => known.get(topic).forall(_._1 == id) }

  /** The topics that have another id than planned; asked after a poll, before its records are used. Of a topic that is not there nothing
    * new can come, but it is asked about again.
    */
  def others(planned: Map[String, String]): Set[String] = {
    val now = responses()
    if (planned.isEmpty || (now == at && (planned eq agreed))) Set.empty
    else {
      val doubtful = planned.filterNot { case (topic, id) => known.get(topic).contains(id -> now) }
      val found    = if (doubtful.isEmpty) doubtful else ask(doubtful)
      val same     = doubtful.filter { case (topic, id) => found.get(topic).contains(id) }
      known ++= same.map { case (topic, id) => topic -> (id -> now) }
      if (same.size == doubtful.size) {
        at = now
        agreed = planned
      }
      found.keySet -- same.keySet
    }
  }

  /** Makes a question of another thread end. */
  def cancel(): Unit = ask.cancel()
}

private[splice] object TopicIds {

  /** Asks a cluster for topics' ids. */
  trait Question {

    /** @param planned ids that are suspicious where they differ, and are then asked for again */
    def apply(planned: Map[String, String]): Map[String, String]

    /** Makes a question that another thread waits for end with an InterruptedException, and every later one. */
    def cancel(): Unit = ()
  }

  /** Takes every id for right, as where no cluster can be asked. */
  def unchecked: TopicIds = new TopicIds(() => 0L, identity(_))
}
