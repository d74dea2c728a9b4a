// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

/** Leg that a hand-over counts, and that may return other rows each time it is read.
  *
  * @param settings
  *   [[splice.source.Source.skipSettings]]
  */
final private[splice] case class SkippingLeg(name: String, settings: Seq[(String, String)]) {

  /** The settings that have this effect. */
  def found: String = settings.map(_._1).mkString(" and ")

  /** The changes of the settings that remove the effect. */
  def remedy: String = settings.map(_._2).mkString(" and ")
}
