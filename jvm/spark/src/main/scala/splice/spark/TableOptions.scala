// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.util.Locale

/** The options of a table as its source sees them. */
private[spark] object TableOptions {

  private val OptionPrefix = "option."

  // What Spark's session catalog adds to a table's properties by itself.
  private val sparks = Set("provider", "owner", "comment", "location", "external", "is_managed_location", "collation")

  /** A SQL table's options come as `key` and again as `option.key`, among properties of Spark's own. */
  def apply(properties: Map[String, String]): Map[String, String] = {
    val (again, plain) = properties.partition { case (k, _) => k.toLowerCase(Locale.ROOT).startsWith(OptionPrefix) }
    if (again.isEmpty) plain
    else plain.filterNot { case (k, _) => sparks(k.toLowerCase(Locale.ROOT)) || k.startsWith("transient_") }
  }
}
