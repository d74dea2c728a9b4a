// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{Json, VersionedEntry}

/** A generation of a topic after the first one. A topic that was recreated under the same name begins a new generation.
  *
  * @param was
  *   the position in the previous generation; without partitions if the position was removed
  * @param starts
  *   the starts of the partitions that existed when the generation was detected
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

/** The cluster and the topic of offsets, by the ids that brokers return. */
final private[splice] case class Owner(cluster: Option[String], id: Option[String]) {

  /** True if both may be the same topic, since no id that both have differs. */
  def is(other: Owner): Boolean = !Owner.differ(cluster, other.cluster) && !Owner.differ(id, other.id)

  def sameCluster(other: Owner): Boolean = !Owner.differ(cluster, other.cluster)
}

private[splice] object Owner {

  private def differ(a: Option[String], b: Option[String]): Boolean = a.exists(x => b.exists(_ != x))
}
