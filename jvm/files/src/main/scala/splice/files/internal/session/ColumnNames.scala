// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.session

import java.util.Locale

import org.apache.spark.sql.internal.SQLConf

/** Names of columns, compared as the session does (`spark.sql.caseSensitive`). */
private[files] object ColumnNames {

  /** Equal for names of the same column. */
  def key(name: String): String = if (SQLConf.get.caseSensitiveAnalysis) name else name.toLowerCase(Locale.ROOT)
}
