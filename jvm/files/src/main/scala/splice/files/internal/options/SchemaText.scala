// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import scala.util.Try

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, StructType}

import splice.source.options.OptionType

/** Parser of the option `schema`. */
private[splice] object SchemaText {

  val Kind: OptionType[StructType] = OptionType(
    "a schema in SQL, such as 'id BIGINT, name STRING', or a StructType as JSON",
    text => parse(text.trim)
  )

  // As in Spark, CHAR and VARCHAR columns of files are read as strings.
  private def parse(text: String): Option[StructType] = {
    val schema = if (text.startsWith("{")) Try(DataType.fromJson(text)) else Try(StructType.fromDDL(text))
    schema.toOption.collect {
      case s: StructType if s.nonEmpty => CharVarcharUtils.replaceCharVarcharWithStringInSchema(s)
    }
  }
}
