// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import scala.util.Try

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, StructType}

import splice.source.options.OptionType

/** A schema as the option `schema` writes it. */
private[splice] object SchemaText {

  val Kind: OptionType[StructType] = OptionType(
    "a schema in SQL, such as 'id BIGINT, name STRING', or a StructType as JSON",
    text => parse(text.trim)
  )

  // Spark reads CHAR and VARCHAR columns of files as strings too.
  private def parse(text: String): Option[StructType] = {
    val schema = if (text.startsWith("{")) Try(DataType.fromJson(text)) else Try(StructType.fromDDL(text))
    schema.toOption.collect {
      case s: StructType if s.nonEmpty => CharVarcharUtils.replaceCharVarcharWithStringInSchema(s)
    }
  }
}
