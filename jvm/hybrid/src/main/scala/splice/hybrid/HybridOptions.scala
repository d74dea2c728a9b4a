// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source._

/** Options of a hybrid source, and options of each leg in addition to the options of its source. */
private[splice] object HybridOptions {

  val Legs: SourceOption[Seq[String]] = SourceOption(
    "legs",
    OptionType[Seq[String]](
      "names of legs in the order of reading, with commas between: history,live",
      text => Option(text.split(",", -1).toSeq.map(_.trim)).filter(_.forall(_.nonEmpty))
    ),
    "the names of the legs; the options of a leg begin with its name and a dot"
  )

  val Schema: SourceOption[String] = SourceOption(
    "schema",
    OptionType.Text,
    "the columns of the hybrid as DDL, such as 'id BIGINT, amount DOUBLE'; by default those of the last leg"
  )

  val Select: SourceOption[String] = SourceOption(
    "select",
    OptionType[String](
      "a SELECT list such as 'id, CAST(value AS STRING) AS text'",
      t => Some(t).filter(_.trim.nonEmpty)
    ),
    "what of a leg's row becomes a row of the hybrid: deterministic row expressions; by default all columns as they are"
  )

  /** Options of the hybrid source. An option with a dot belongs to a leg and is checked there. */
  val set: OptionSet = OptionSet("Hybrid source", Seq(Legs, Schema), _.contains('.'))

  /** Options of each leg in addition to the options of its source. */
  val leg: OptionSet =
    OptionSet("Each leg of a hybrid source", Seq(Select, LogColumnsOption.Columns) ++ HandOverOptions.all)
}
