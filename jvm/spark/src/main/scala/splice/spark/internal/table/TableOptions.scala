// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import splice.source.SourceProvider
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, SourceOptions}

/** Derives the options of a source from the properties of a table. */
private[spark] object TableOptions {

  private val OptionPrefix = "option."

  // Properties that Spark's session catalog adds to a table automatically.
  private val sparks = Set("provider", "owner", "comment", "location", "external", "is_managed_location", "collation")

  // An option that the writer of a query passes to its target table. As an unknown option, it would hide the error that
  // a table is read-only.
  private val writers = "checkpointlocation"

  // The session catalog also adds a location for the rows of a table without a location. Some sources have an option of
  // this name.
  private val place = "path"

  /** Returns the options of a table. A SQL table has each option twice, as `key` and as `option.key`, among properties
    * of Spark.
    *
    * @param implied
    *   options that the alias sets in addition
    */
  def apply(properties: Map[String, String], implied: Map[String, String]): Map[String, String] = {
    val (again, plain) = properties.partition { case (k, _) => fold(k).startsWith(OptionPrefix) }
    val cleaned        = plain.filterNot { case (k, _) => sparks(fold(k)) || k.startsWith("transient_") }
    val read           = (if (again.isEmpty) plain else cleaned).filterNot { case (k, _) => fold(k) == writers }
    val options        = read ++ implied
    if (again.isEmpty || hasPlace(options)) options else options - place
  }

  private def hasPlace(options: Map[String, String]): Boolean = {
    val kind = SourceOptions(options).find(CommonOptions.Source)
    SourceProvider.all.filter(p => kind.contains(p.kind)).exists(_.options.options.exists(_.key == place))
  }
}
