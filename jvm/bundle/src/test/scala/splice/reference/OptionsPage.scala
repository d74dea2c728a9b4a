// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import splice.hybrid.HybridOptions
import splice.source.{CommonOptions, OptionSet, SourceOption, SourceProvider}

/** Page of all options of all connectors. */
object OptionsPage {

  private val intro =
    """Names are found whatever their case. In a hybrid source an option of a leg has the leg's name and a dot in front:
      |`live.subscribe`. An option that nobody knows is an error, unless `unknownOptions` says otherwise.""".stripMargin

  def text: String = Markdown.page("Options", intro +: sets.flatMap(set => Seq(s"## ${set.title}", table(set))))

  private def sets: Seq[OptionSet] = {
    val connectors = SourceProvider.all.map(_.options).sortBy(_.title)
    CommonOptions.set +: connectors :+ HybridOptions.leg
  }

  private def table(set: OptionSet): String =
    Markdown.table(Seq("Option", "Allowed", "Default", "Since", "What it is for"), set.options.map(row(_)))

  private def row(option: SourceOption[_]): Seq[String] = Seq(
    Markdown.code(option.key),
    Markdown.text(option.kind.allowed),
    option.default.fold("")(d => Markdown.code(d._2)),
    option.since,
    Markdown.text(option.doc)
  )
}
