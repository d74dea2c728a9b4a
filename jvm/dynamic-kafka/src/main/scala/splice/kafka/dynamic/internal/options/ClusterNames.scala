// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

/** Rules for the names of clusters, which are part of offsets, options and names of folders. */
private[dynamic] object ClusterNames {

  private val pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}".r

  val Allowed = "up to 128 letters, digits, '.', '_' and '-', beginning with a letter or a digit"

  /** Returns the first name that occurs again. Java's set has a bound for names with equal hash codes. */
  def repeated(names: Seq[String]): Option[String] = {
    val known = new java.util.HashSet[String]
    names.find(!known.add(_))
  }

  def isValid(name: String): Boolean = pattern.matches(name)
}
