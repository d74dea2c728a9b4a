// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.source.{Json, VersionedEntry}

/** One of the topics that had a name one after another, from the second on.
  *
  * @param was
  *   where the generation before was left; no partition of it if that was forgotten
  * @param starts
  *   where the partitions begin that there were when it was found
  */
final private[splice] case class Generation(
    topic: String,
    number: Int,
    owner: Owner,
    was: KafkaPosition,
    starts: KafkaPosition
) {

  def lines: Seq[String] = VersionedEntry.write(
    Seq("topic" -> Json.text(topic), "number" -> Json.number(number.toLong)) ++
      owner.cluster.map("cluster" -> Json.text(_)) ++
      owner.id.map("id" -> Json.text(_)),
    Seq(was.json, starts.json)
  )
}

private[splice] object Generation {

  def read(entry: VersionedEntry): Generation = entry.lines match {
    case Seq(was, starts) => Generation(
        entry.text("topic"),
        entry.long("number").toInt,
        Owner(entry.find("cluster").map(_.asText), entry.find("id").map(_.asText)),
        KafkaPosition.read(was),
        KafkaPosition.read(starts)
      )
    case lines => entry.corrupt(s"it has ${lines.size + 1} lines instead of 3")
  }
}

/** Whose offsets they are: a cluster's and a topic's id, as far as brokers tell them. */
final private[splice] case class Owner(cluster: Option[String], id: Option[String]) {

  /** Whether the two may be the same: nothing that both know differs. */
  def is(other: Owner): Boolean = !Owner.differ(cluster, other.cluster) && !Owner.differ(id, other.id)

  def sameCluster(other: Owner): Boolean = !Owner.differ(cluster, other.cluster)
}

private[splice] object Owner {

  private def differ(a: Option[String], b: Option[String]): Boolean = a.exists(x => b.exists(_ != x))
}
