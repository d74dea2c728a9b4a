// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import splice.source.errors.OptionErrors
import splice.source.internal.entries.Json
import splice.source.options.{OptionType, SourceOptions}

/** Folders, files and patterns of a source, from its options. */
private[splice] object FilePaths {

  /** JSON array of paths, in the format of Spark's option `paths`. */
  val Several: OptionType[Seq[String]] = OptionType(
    """a JSON array of paths, such as ["/lake/a","/lake/b"]""",
    text =>
      Json.read(text).filter(_.isArray).map(Json.items).filter(_.nonEmpty).flatMap { items =>
        if (items.forall(i => i.isTextual && i.asText.nonEmpty)) Some(items.map(_.asText)) else None
      }
  )

  val One: OptionType[String] = OptionType("a folder, a file or a pattern", Some(_).filter(_.trim.nonEmpty))

  /** @throws splice.source.errors.SpliceOptionException
    *   if no path is set, or both `path` and `paths` are set
    */
  def of(options: SourceOptions): Seq[String] =
    (options.find(FileOptions.Path), options.find(FileOptions.Paths)) match {
      case (Some(_), Some(_)) =>
        throw OptionErrors.conflict(
          Seq(FileOptions.Path, FileOptions.Paths).map(o => options.name(o.key)),
          "exactly one of these options must be set; remove the other options"
        )
      case (Some(path), None)    => Seq(path)
      case (None, Some(several)) => several
      case (None, None)          => throw OptionErrors.missing(options.name(FileOptions.Path.key), FileOptions.Path.doc)
    }

  /** Options for `paths`. */
  def options(paths: Seq[String]): Seq[(String, String)] = paths match {
    case Seq()     => Nil
    case Seq(path) => Seq(FileOptions.Path.key -> path)
    case several   => Seq(FileOptions.Paths.key -> Json.write(Json.array(several.map(Json.text))))
  }
}
