// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

/** Leg that a hand-over counts, and that may skip other rows each time it is read.
  *
  * @param settings
  *   the settings that skip rows, each with the option of the leg that replaces the setting
  */
final private[splice] case class SkippingLeg(name: String, settings: Seq[(String, String)])
