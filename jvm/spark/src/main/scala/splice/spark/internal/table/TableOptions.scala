// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import splice.source.SourceProvider
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, SourceOptions}

/** The options of a table as its source sees them. */
private[spark] object TableOptions {

  private val OptionPrefix = "option."

  // What Spark's session catalog adds to a table's properties by itself.
  private val sparks = Set("provider", "owner", "comment", "location", "external", "is_managed_location", "collation")

  // A query's writer hands this to the table that it writes to; here it would hide that nothing can be written.
  private val writers = "checkpointlocation"

  // And a place for the rows of a table that has none of its own, under the option of sources that read one.
  private val place = "path"

  /** A SQL table's options come as `key` and again as `option.key`, among properties of Spark's own.
    *
    * @param implied
    *   what the alias says beside them
    */
  def apply(properties: Map[String, String], implied: Map[String, String]): Map[String, String] = {
    val (again, plain) = properties.partition { case (k, _) => fold(k).startsWith(OptionPrefix) }
    val own            = plain.filterNot { case (k, _) => sparks(fold(k)) || k.startsWith("transient_") }
    val read           = (if (again.isEmpty) plain else own).filterNot { case (k, _) => fold(k) == writers }
    val options        = read ++ implied
    if (again.isEmpty || hasPlace(options)) options else options - place
  }

  private def hasPlace(options: Map[String, String]): Boolean = {
    val kind = SourceOptions(options).find(CommonOptions.Source)
    SourceProvider.all.filter(p => kind.contains(p.kind)).exists(_.options.options.exists(_.key == place))
  }
}
