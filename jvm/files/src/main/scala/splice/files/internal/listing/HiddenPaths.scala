// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import org.apache.hadoop.fs.{FileStatus, GlobFilter, Path}

/** Files and folders that Spark's readers skip, because they are not data or not committed. */
private[files] object HiddenPaths {

  // The choices have no further braces, so the innermost braces of a pattern come first.
  private val Braces = """(?<!\\)\{([^{}]*)\}""".r

  private val Comma = """(?<!\\),"""

  def isHidden(path: Path): Boolean = isHidden(path.getName)

  /** Returns the matches of a pattern without hidden files and folders. A match is kept if the pattern names the hidden
    * file or folder: the part of the pattern also begins with `_` or a dot.
    */
  def omit(matches: Seq[FileStatus], pattern: Path): Seq[FileStatus] = {
    lazy val choices                = expand(pattern.toUri.getPath).distinct.map(parts)
    def isNamed(names: Seq[String]) = choices.exists { choice =>
      val pairs = choice.zip(names)
      choice.size == names.size && pairs.forall { case (part, name) =>
        !isHidden(name) || part.stripPrefix("\\").headOption.exists(Set('_', '.'))
      } && pairs.forall { case (part, name) => part == name || new GlobFilter(part).accept(new Path(s"/$name")) }
    }
    matches.filter { status =>
      val names = parts(status.getPath.toUri.getPath)
      !names.exists(isHidden) || isNamed(names)
    }
  }

  /** True for the name of a file or folder that is not data or not complete. */
  def isHidden(name: String): Boolean = name.startsWith(".") || (name.startsWith("_") && !name.contains("="))

  private def parts(path: String): Seq[String] = path.split('/').toSeq.filter(_.nonEmpty)

  /** Patterns without braces that have the same matches. */
  private def expand(pattern: String): Seq[String] = Braces.findFirstMatchIn(pattern) match {
    case Some(braces) =>
      braces.group(1).split(Comma, -1).toSeq.flatMap(choice => expand(s"${braces.before}$choice${braces.after}"))
    case None => Seq(pattern)
  }
}
