// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import splice.source.errors.OptionErrors
import splice.source.internal.entries.Json
import splice.source.options.{OptionType, SourceOptions}

/** The folders, files and patterns that a source reads, as its options give them. */
private[splice] object FilePaths {

  /** A JSON array of paths, as Spark itself writes the option `paths`. */
  val Several: OptionType[Seq[String]] = OptionType(
    """a JSON array of paths, such as ["/lake/a","/lake/b"]""",
    text =>
      Json.read(text).filter(_.isArray).map(Json.items).filter(_.nonEmpty).flatMap { items =>
        if (items.forall(i => i.isTextual && i.asText.nonEmpty)) Some(items.map(_.asText)) else None
      }
  )

  val One: OptionType[String] = OptionType("a folder, a file or a pattern", Some(_).filter(_.trim.nonEmpty))

  /** @throws splice.source.errors.SpliceOptionException
    *   when there is no path, or `path` and `paths` are both set
    */
  def of(options: SourceOptions): Seq[String] =
    (options.find(FileOptions.Path), options.find(FileOptions.Paths)) match {
      case (Some(_), Some(_)) =>
        throw OptionErrors.conflict(
          Seq(FileOptions.Path, FileOptions.Paths).map(o => options.name(o.key)),
          "exactly one of them must be set"
        )
      case (Some(one), None)     => Seq(one)
      case (None, Some(several)) => several
      case (None, None)          => throw OptionErrors.missing(options.name(FileOptions.Path.key), FileOptions.Path.doc)
    }

  /** The options that say `paths`. */
  def options(paths: Seq[String]): Seq[(String, String)] = paths match {
    case Seq()    => Nil
    case Seq(one) => Seq(FileOptions.Path.key -> one)
    case several  => Seq(FileOptions.Paths.key -> Json.write(Json.array(several.map(Json.text))))
  }
}
