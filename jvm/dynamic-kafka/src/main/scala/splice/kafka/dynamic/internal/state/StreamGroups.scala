// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import scala.annotation.tailrec

import splice.kafka.dynamic.StreamMetadata

/** Groups of streams that a document changes together, because they share a topic before or after the change. */
private[dynamic] object StreamGroups {

  /** Returns the groups of the streams that a document adds, changes or removes, as names of streams. */
  def changed(at: AppliedMetadata, document: StreamMetadata): Seq[Set[String]] = {
    val names   = at.streams.keySet ++ document.streams.keySet
    val changed = names.filter(name => at.streams.get(name) != document.streams.get(name))
    val before  = at.topics.keysIterator.flatMap(topic => at.stream(topic).map(topic -> _))
    val after   = AppliedMetadata.streamOf(document.streams.values).iterator
    val sharing = (before ++ after).toSeq.groupMap(_._1)(_._2).valuesIterator.map(_.toSet).filter(_.size > 1).toSeq
    joined(names.toSeq.map(Set(_)), sharing).filter(_.exists(changed))
  }

  /** Returns a document with the streams of a group from `document`, and with all other streams unchanged. */
  def part(at: AppliedMetadata, document: StreamMetadata, group: String => Boolean): StreamMetadata =
    document.copy(streams = at.streams.filterNot(s => group(s._1)) ++ document.streams.filter(s => group(s._1)))

  @tailrec private def joined(groups: Seq[Set[String]], sharing: Seq[Set[String]]): Seq[Set[String]] = sharing match {
    case group +: rest =>
      val (touched, others) = groups.partition(_.exists(group))
      joined(touched.flatten.toSet +: others, rest)
    case _ => groups
  }
}
