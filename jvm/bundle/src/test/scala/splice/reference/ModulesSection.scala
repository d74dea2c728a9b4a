// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

/** The modules and the modules that their main code uses, from the build, as a section of the page about the architecture. */
object ModulesSection {

  private val Begin = "<!-- modules: generated from the build by splice.reference.ReferencePages -->"
  private val End   = "<!-- end of modules -->"

  /** The page with the section replaced. */
  def in(page: String): String = {
    val (before, rest) = page.splitAt(page.indexOf(Begin))
    require(rest.contains(End), s"the page needs the lines '$Begin' and '$End'")
    s"$before$Begin\n\n$table\n\n${rest.drop(rest.indexOf(End))}"
  }

  private def table: String = {
    val uses = sys.props("splice.modules").split(';').toSeq.map { entry =>
      val (module, used) = entry.splitAt(entry.indexOf('='))
      module -> used.drop(1).split(',').filter(_.nonEmpty).toSeq
    }
    Markdown.table(
      Seq("Module", "Uses"),
      layers(uses).map { case (module, used) =>
        Seq(Markdown.code(s"jvm/$module"), if (used.isEmpty) "–" else used.map(Markdown.code).mkString(", "))
      }
    )
  }

  // A module comes after the modules that it uses.
  private def layers(uses: Seq[(String, Seq[String])]): Seq[(String, Seq[String])] = {
    val all                        = uses.toMap
    def depth(module: String): Int = all(module).map(depth(_) + 1).maxOption.getOrElse(0)
    uses.sortBy { case (module, _) => (depth(module), module) }
  }
}
