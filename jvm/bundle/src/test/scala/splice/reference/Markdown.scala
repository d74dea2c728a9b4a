// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

/** Text and tables in Markdown for GitHub and mkdocs. */
object Markdown {

  /** Escapes text for Markdown, on one line. */
  def text(words: String): String = words.trim.replaceAll("\\s+", " ").flatMap {
    case '<'                         => "&lt;"
    case '>'                         => "&gt;"
    case '&'                         => "&amp;"
    case c if "\\|*_`[]".contains(c) => s"\\$c"
    case c                           => c.toString
  }

  /** Inline code. */
  def code(words: String): String = s"`${words.replace("|", "\\|")}`"

  def table(headings: Seq[String], rows: Seq[Seq[String]]): String = {
    val lines = headings +: headings.map(_ => "---") +: rows
    lines.map(_.mkString("| ", " | ", " |")).mkString("\n")
  }

  /** Page of blocks separated by empty lines, with a note about its generator. */
  def page(title: String, blocks: Seq[String]): String =
    (s"# $title" +: blocks :+ "<!-- Generated from the code by splice.reference.ReferencePages; do not edit. -->")
      .mkString("", "\n\n", "\n")
}
