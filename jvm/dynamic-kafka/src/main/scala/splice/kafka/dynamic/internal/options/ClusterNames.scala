// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

/** Rules for the names of clusters, which are part of offsets, options and names of folders. */
private[dynamic] object ClusterNames {

  private val pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}".r

  val Allowed = "up to 128 letters, digits, '.', '_' and '-', beginning with a letter or a digit"

  def isValid(name: String): Boolean = pattern.matches(name)
}
