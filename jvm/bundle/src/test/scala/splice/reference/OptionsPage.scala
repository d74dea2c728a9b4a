// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import splice.hybrid.internal.options.HybridOptions
import splice.source.SourceProvider
import splice.source.options.{CommonOptions, OptionSet, SourceOption}

/** Page of all options of all connectors. */
object OptionsPage {

  private val intro =
    """Option names are case-insensitive. In a hybrid source, an option of a leg begins with the leg's name and a dot:
      |`live.subscribe`. An unknown option is an error, unless `onUnknownOption` is `warn`.""".stripMargin

  def text: String = Markdown.page("Options", intro +: sets.flatMap(set => Seq(s"## ${set.title}", table(set))))

  def sets: Seq[OptionSet] = {
    val connectors = SourceProvider.all.map(_.options).sortBy(_.title)
    CommonOptions.set +: connectors :+ HybridOptions.leg
  }

  private def table(set: OptionSet): String =
    Markdown.table(Seq("Option", "Allowed", "Default", "Since", "Description"), set.options.map(row(_)))

  private def row(option: SourceOption[_]): Seq[String] = Seq(
    Markdown.code(option.key),
    Markdown.text(option.kind.allowed),
    option.default.fold("")(d => Markdown.code(d._2)),
    option.since,
    Markdown.text(option.doc)
  )
}
