// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import java.util.Locale

import scala.collection.immutable.SortedMap

import splice.source.errors.OptionErrors
import splice.source.internal.Secrets

/** The options of one source, whatever the case of their keys. Values keep the case in which they were written.
  *
  * @param prefix
  *   what stands before each key in the options that the user wrote, such as `live.`; errors name keys with it
  */
final class SourceOptions private (entries: SortedMap[String, (String, String)], prefix: String) extends Serializable {

  /** The text of an option. */
  def get(key: String): Option[String] = entries.get(SourceOptions.fold(key)).map(_._2)

  def contains(key: String): Boolean = entries.contains(SourceOptions.fold(key))

  /** The option as the user wrote it, with the prefix of its leg. */
  def name(key: String): String = prefix + key

  /** The value, else the default.
    *
    * @throws SpliceOptionException
    *   when there is neither, or the text is not allowed
    */
  def apply[A](option: SourceOption[A]): A =
    find(option).orElse(option.default.map(_._1)).getOrElse(throw OptionErrors.missing(name(option.key), option.doc))

  /** The value, if the option is set.
    *
    * @throws SpliceOptionException
    *   when the text is not allowed
    */
  def find[A](option: SourceOption[A]): Option[A] = get(option.key).map { text =>
    option.kind.parse(text).getOrElse {
      throw OptionErrors.invalidValue(
        name(option.key),
        Secrets.redact(option.key, text),
        option.kind.allowed,
        option.doc
      )
    }
  }

  /** The options of a part: those whose key begins with `part.`, without it. */
  def scope(part: String): SourceOptions = {
    val start = SourceOptions.fold(part) + "."
    val inner = entries.collect {
      case (k, (original, v)) if k.startsWith(start) => k.drop(start.length) -> (original.drop(start.length) -> v)
    }
    new SourceOptions(inner, s"$prefix$part.")
  }

  /** The options but those that somebody else reads. */
  def without(keys: Iterable[String]): SourceOptions =
    new SourceOptions(entries -- keys.map(SourceOptions.fold), prefix)

  /** The options, with `value` for `key` where the user gave none. */
  def orElse(key: String, value: String): SourceOptions =
    if (contains(key)) this else new SourceOptions(entries + (SourceOptions.fold(key) -> (key -> value)), prefix)

  /** Keys as they were written, sorted whatever their case. */
  def keys: Seq[String] = entries.values.map(_._1).toSeq

  /** Keys and texts as they were written. */
  def toMap: Map[String, String] = entries.values.toMap

  override def toString: String =
    entries.values.map { case (k, v) => s"$prefix$k=${Secrets.redact(k, v)}" }.mkString("SourceOptions(", ", ", ")")
}

object SourceOptions {

  /** Returns the form in which names are compared. Names of options, legs and clusters are case-insensitive. */
  private[splice] def fold(name: String): String = name.toLowerCase(Locale.ROOT)

  def apply(options: Map[String, String]): SourceOptions =
    new SourceOptions(SortedMap.from(options.map { case (k, v) => fold(k) -> (k -> v) }), "")
}
