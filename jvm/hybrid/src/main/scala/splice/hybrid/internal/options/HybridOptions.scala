// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import splice.source.options.{OptionSet, OptionType, SourceOption}

/** Options of a hybrid source, and options of each leg in addition to the options of its source. */
private[splice] object HybridOptions {

  val Legs: SourceOption[Seq[String]] = SourceOption(
    "legs",
    OptionType[Seq[String]](
      "names of legs in the order of reading, separated by commas, such as history,live",
      text => Option(text.split(",", -1).toSeq.map(_.trim)).filter(_.forall(_.nonEmpty))
    ),
    "Names of the legs. The options of a leg begin with the name of the leg and a dot."
  )

  val Schema: SourceOption[String] = SourceOption(
    "schema",
    OptionType.Text,
    "Columns of the hybrid source as DDL, such as 'id BIGINT, amount DOUBLE'. Default: the columns of the " +
      "last leg."
  )

  val Select: SourceOption[String] = SourceOption(
    "select",
    OptionType[String](
      "a SELECT list such as 'id, CAST(value AS STRING) AS text'",
      t => Some(t).filter(_.trim.nonEmpty)
    ),
    "Expressions that convert a row of the leg into a row of the hybrid source. Each expression must be " +
      "deterministic and must use only one row. Default: all columns unchanged."
  )

  /** Options of the hybrid source. An option with a dot belongs to a leg and is checked there. */
  val set: OptionSet = OptionSet("Hybrid source", Seq(Legs, Schema), _.contains('.'))

  /** Options of each leg in addition to the options of its source. */
  val leg: OptionSet =
    OptionSet("Each leg of a hybrid source", Seq(Select, LogColumnsOption.Columns) ++ HandOverOptions.all)
}
