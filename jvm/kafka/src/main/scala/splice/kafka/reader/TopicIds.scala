// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

/** Checks that the records that a consumer has fetched are of the topics that were planned. Used by one thread at a time, except `cancel`.
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

  // Up to which response no planned topic was missing.
  private var complete = -1L

  /** Whether what the consumer may have fetched already is of these topics, as far as it has read any of them. */
  def allow(planned: Map[String, String]): Boolean =
    planned.forall { case (topic, id) => known.get(topic).forall(_._1 == id) }

  /** The topics that have another id than planned. Called after a poll, before its records are used.
    *
    * @param polled
    *   the topics of which the poll returned something. A request about other topics would slow the reader down while one of them is
    *   deleted. A deleted topic has no new records, so the reader may use those that were fetched before.
    */
  def others(planned: Map[String, String], polled: String => Boolean): Set[String] = {
    val now = responses()
    if (planned.isEmpty || (now == at && (planned eq agreed))) Set.empty
    else {
      val (doubtful, later) = unknown(planned, now).partition { case (topic, _) => polled(topic) }
      val found             = if (doubtful.isEmpty) doubtful else ask(doubtful)(TopicIds.differs(doubtful))
      val same              = doubtful.filter { case (topic, id) => found.get(topic).contains(id) }
      agree(same, now)
      if (same.size == doubtful.size && later.isEmpty) {
        at = now
        agreed = planned
      }
      found.keySet -- same.keySet
    }
  }

  /** The topics that do not exist. It sends a request only if the consumer has had a metadata response since the last call, because a
    * client requests metadata again and again while a topic is missing.
    */
  def missing(planned: Map[String, String]): Set[String] = {
    val now = responses()
    if (planned.isEmpty || now == complete) Set.empty
    else {
      val found = ask(planned)(now => planned.keysIterator.exists(!now.contains(_)))
      val gone  = planned.keySet -- found.keySet
      if (gone.isEmpty) complete = now
      gone
    }
  }

  private def unknown(planned: Map[String, String], now: Long): Map[String, String] =
    planned.filterNot { case (topic, id) => known.get(topic).contains(id -> now) }

  private def agree(same: Map[String, String], now: Long): Unit =
    known ++= same.map { case (topic, id) => topic -> (id -> now) }

  /** Makes a question of another thread end. */
  def cancel(): Unit = ask.cancel()
}

private[splice] object TopicIds {

  /** Asks a cluster for topics' ids. */
  trait Question {

    /** The ids of the planned topics that exist.
      *
      * @param suspicious
      *   whether a response may come from a broker that is behind, so that the request is sent again
      */
    def apply(planned: Map[String, String])(suspicious: Map[String, String] => Boolean): Map[String, String]

    /** Makes a question that another thread waits for end with an InterruptedException, and every later one. */
    def cancel(): Unit = ()
  }

  /** Takes every id for right, as where no cluster can be asked. */
  def unchecked: TopicIds = new TopicIds(
    () => 0L,
    new Question {
      override def apply(planned: Map[String, String])(suspicious: Map[String, String] => Boolean)
          : Map[String, String] =
        planned
    }
  )

  private def differs(planned: Map[String, String])(found: Map[String, String]): Boolean =
    found.exists { case (topic, id) => planned(topic) != id }
}
