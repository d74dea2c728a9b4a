// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import splice.source.options.{OptionSet, OptionType, SourceOption}

/** The options of a hybrid, and those that every leg has beside its source's own. */
private[splice] object HybridOptions {

  val Legs: SourceOption[Seq[String]] = SourceOption(
    "legs",
    OptionType[Seq[String]](
      "names of legs in the order of reading, with commas between: history,live",
      text => Option(text.split(",", -1).toSeq.map(_.trim)).filter(_.forall(_.nonEmpty))
    ),
    "Names of the legs. Options of a leg begin with its name and a dot."
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
    "Columns of the hybrid source from a row of the leg, as deterministic row expressions. Default: all " +
      "columns unchanged."
  )

  /** The hybrid's own; what has a dot belongs to a leg and is checked there. */
  val set: OptionSet = OptionSet("Hybrid source", Seq(Legs, Schema), _.contains('.'))

  /** What each leg has beside its source's own options. */
  val leg: OptionSet =
    OptionSet("Each leg of a hybrid source", Seq(Select, LogColumnsOption.Columns) ++ HandOverOptions.all)
}
