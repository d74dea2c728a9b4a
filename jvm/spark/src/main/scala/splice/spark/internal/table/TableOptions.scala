// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import org.apache.spark.sql.connector.catalog.TableCatalog

import splice.source.SourceProvider
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, SourceOptions}

/** Derives the options of a source from the properties of a table. */
private[spark] object TableOptions {

  private val OptionPrefix = "option."

  // An option that the writer of a query passes to its target table. As an unknown option, it would hide the error that
  // a table is read-only.
  private val writers = "checkpointlocation"

  private val path     = "path"
  private val paths    = "paths"
  private val location = TableCatalog.PROP_LOCATION

  // Spark sets these properties of a table.
  private val ofSpark = Set(
    path,
    location,
    TableCatalog.PROP_COMMENT,
    TableCatalog.PROP_EXTERNAL,
    TableCatalog.PROP_IS_MANAGED_LOCATION,
    TableCatalog.PROP_OWNER,
    TableCatalog.PROP_PROVIDER
  )

  /** Returns the options of a table. A SQL table has each option as `option.key`, among properties of Spark and of the
    * user. Spark also stores most options as `key`, but removes the keys of its own properties, such as `comment`.
    *
    * @param implied
    *   options that the alias sets in addition
    */
  def apply(properties: Map[String, String], implied: Map[String, String]): Map[String, String] = {
    val ofTable = properties.collect {
      case (key, value) if fold(key).startsWith(OptionPrefix) => key.drop(OptionPrefix.length) -> value
    }
    val written = if (ofTable.isEmpty) properties else ofTable ++ place(properties, ofTable ++ implied)
    written.filterNot { case (key, _) => fold(key) == writers } ++ implied
  }

  /** Returns the properties of a SQL table that have the name of an option, and no effect. The user may have set such a
    * property by `ALTER TABLE`.
    *
    * @param options
    *   the options of the table
    */
  def ignored(properties: Map[String, String], options: Map[String, String]): Map[String, String] =
    if (!properties.keysIterator.exists(fold(_).startsWith(OptionPrefix))) Map.empty
    else {
      val all      = SourceOptions(options)
      val provider = SourceProvider.of(all)
      properties.filter { case (key, value) =>
        !ofSpark(fold(key)) && !all.get(key).contains(value) && provider.isOption(key, all)
      }
    }

  /** Returns the option `path` of a SQL table, if its source has this option. Spark moves the option of the user to the
    * property `location`. A table without a location has the default location of the session catalog as its `path`.
    */
  private def place(properties: Map[String, String], options: Map[String, String]): Option[(String, String)] = {
    def has(all: Map[String, String], name: String) = all.keysIterator.exists(fold(_) == name)
    properties
      .find { case (key, _) => fold(key) == path }
      .filter(_ => hasPath(options) && (has(properties, location) || !has(options, paths)))
  }

  private def hasPath(options: Map[String, String]): Boolean = {
    val kind = SourceOptions(options).find(CommonOptions.Source)
    SourceProvider.all.filter(p => kind.contains(p.kind)).exists(_.options.options.exists(_.key == path))
  }
}
