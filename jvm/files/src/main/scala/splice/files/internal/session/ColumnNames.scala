// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.session

import org.apache.spark.sql.internal.SQLConf

import splice.source.options.SourceOptions.fold

/** Column names with the case sensitivity of the session (`spark.sql.caseSensitive`). */
private[files] object ColumnNames {

  /** Comparison key; equal for all names of one column. */
  def key(name: String): String = if (SQLConf.get.caseSensitiveAnalysis) name else fold(name)
}
