// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.source.runtime.{HistoryEvent, SideLog}

/** Changes of a checkpoint as events. Changes before the oldest stored change are not included. */
private[dynamic] object ChangeHistory {

  def apply(log: SideLog): Seq[HistoryEvent] = {
    val all    = new ChangeEntries(log).all
    val before = all.headOption.filter(_.number == 0).map(_ => AppliedMetadata.Nothing)
    (before.toSeq ++ all).sliding(2).collect { case Seq(was, is) => events(was, is) }.flatten.toSeq
  }

  private def events(was: AppliedMetadata, is: AppliedMetadata): Seq[HistoryEvent] =
    ChangeDescription(was, is).map(text => HistoryEvent(is.number.toLong, is.at, is.generation, text.event, text.names))
}
