// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.{Map => JMap}

import org.apache.kafka.common.Uuid

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

  // The topics that were not missing at a response.
  private var present   = Set.empty[String]
  private var presentAt = -1L

  /** How many metadata responses the consumer has had. */
  def response: Long = responses()

  /** Whether what the consumer may have fetched already is of these topics, as far as it has read any of them. */
  def allow(planned: Map[String, String]): Boolean =
    planned.forall { case (topic, id) => known.get(topic).forall(_._1 == id) }

  /** The topics that have another id than planned. Called after a poll, before its records are used.
    *
    * @param polled
    *   the topics of which the poll returned something. While the ids of these are known no request is sent, so a deleted topic does not slow
    *   the reader down. It has no new records, so the reader may use those that were fetched before.
    */
  def others(planned: Map[String, String], polled: String => Boolean): Set[String] = {
    val now = responses()
    if (planned.isEmpty || (now == at && (planned eq agreed))) Set.empty
    else {
      val doubtful = planned.filterNot { case (topic, id) => known.get(topic).contains(id -> now) }
      val found    = if (doubtful.keysIterator.exists(polled)) ask(doubtful) else Map.empty[String, String]
      val same     = doubtful.filter { case (topic, id) => found.get(topic).contains(id) }
      known ++= same.map { case (topic, id) => topic -> (id -> now) }
      if (same.size == doubtful.size) {
        at = now
        agreed = planned
      }
      found.keySet -- same.keySet
    }
  }

  /** The topics that do not exist, by the broker that responds, which may be behind. Topics that existed are requested again only once the
    * consumer has had a metadata response, because a client requests metadata again and again while a topic is missing.
    */
  def missing(planned: Map[String, String]): Set[String] = {
    val now = responses()
    if (now != presentAt) present = Set.empty
    presentAt = now
    if (planned.keySet.subsetOf(present)) Set.empty
    else
      ask.missing(planned).fold(Set.empty[String]) { gone =>
        present ++= planned.keySet -- gone
        gone
      }
  }

  /** Makes a question of another thread end. */
  def cancel(): Unit = ask.cancel()
}

private[splice] object TopicIds {

  /** Asks a cluster for topics' ids. */
  trait Question {

    /** The ids of the planned topics that exist. A response with another id is suspicious, and the request is sent again. */
    def apply(planned: Map[String, String]): Map[String, String]

    /** The planned topics that do not exist; none if the cluster does not respond soon. None while it is not known, which a later call
      * asks again.
      */
    def missing(planned: Map[String, String]): Option[Set[String]] = Some(planned.keySet -- apply(planned).keySet)

    /** Makes a question that another thread waits for end with an InterruptedException, and every later one. */
    def cancel(): Unit = ()
  }

  /** Takes ids from the consumer that reads, and requests only those that it does not know, or knows to be others than planned.
    *
    * @param fetched
    *   the ids that the consumer sends with its fetch requests. A broker rejects a fetch of another topic (KIP-516), so these ids are those of
    *   the records that it returned
    */
  def ofConsumer(fetched: () => JMap[String, Uuid], ask: Question): Question = new Question {
    override def apply(planned: Map[String, String]): Map[String, String] = {
      val ids              = fetched()
      val (same, doubtful) = planned.partition { case (topic, id) => Option(ids.get(topic)).exists(_.toString == id) }
      if (doubtful.isEmpty) same else same ++ ask(doubtful)
    }

    override def missing(planned: Map[String, String]): Option[Set[String]] = ask.missing(planned)

    override def cancel(): Unit = ask.cancel()
  }

  /** Takes every id for right, as where no cluster can be asked. */
  def unchecked: TopicIds = new TopicIds(() => 0L, identity(_))
}
