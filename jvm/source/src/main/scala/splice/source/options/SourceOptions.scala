// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import java.util.Locale

import scala.collection.immutable.SortedMap

import splice.source.errors.OptionErrors
import splice.source.internal.Secrets

/** Options of one source. The case of keys is ignored. Values keep the case that the user wrote.
  *
  * @param prefix
  *   prefix of each key in the options that the user wrote, such as `live.`. Errors name keys with this prefix
  */
final class SourceOptions private (entries: SortedMap[String, (String, String)], prefix: String) extends Serializable {

  /** Returns the text of an option, or None if the option is not set. */
  def get(key: String): Option[String] = entries.get(SourceOptions.fold(key)).map(_._2)

  def contains(key: String): Boolean = entries.contains(SourceOptions.fold(key))

  /** Key of an option in the options that the user wrote, with the prefix of its leg. */
  def name(key: String): String = prefix + key

  /** Returns the value of an option, or the default.
    *
    * @throws SpliceOptionException
    *   if the option is not set and has no default, or if the text is not allowed
    */
  def apply[A](option: SourceOption[A]): A =
    find(option).orElse(option.default.map(_._1)).getOrElse(throw OptionErrors.missing(name(option.key), option.doc))

  /** Returns the value of an option, or None if the option is not set.
    *
    * @throws SpliceOptionException
    *   if the text is not allowed
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

  /** Returns the options of a part. The keys of these options begin with `part.`; the result omits this prefix. */
  def scope(part: String): SourceOptions = {
    val start = SourceOptions.fold(part) + "."
    val inner = entries.collect {
      case (k, (original, v)) if k.startsWith(start) => k.drop(start.length) -> (original.drop(start.length) -> v)
    }
    new SourceOptions(inner, s"$prefix$part.")
  }

  /** Returns the options without the given keys, which another component reads. */
  def without(keys: Iterable[String]): SourceOptions =
    new SourceOptions(entries -- keys.map(SourceOptions.fold), prefix)

  /** Returns the options, with `value` for `key` if the user has not set `key`. */
  def orElse(key: String, value: String): SourceOptions =
    if (contains(key)) this else new SourceOptions(entries + (SourceOptions.fold(key) -> (key -> value)), prefix)

  /** Keys in the case that the user wrote, sorted without regard to case. */
  def keys: Seq[String] = entries.values.map(_._1).toSeq

  /** Keys and texts in the case that the user wrote. */
  def toMap: Map[String, String] = entries.values.toMap

  override def toString: String =
    entries.values.map { case (k, v) => s"$prefix$k=${Secrets.redact(k, v)}" }.mkString("SourceOptions(", ", ", ")")
}

object SourceOptions {

  /** Returns the form in which case-insensitive names are compared, such as names of options, legs and clusters. */
  private[splice] def fold(name: String): String = name.toLowerCase(Locale.ROOT)

  def apply(options: Map[String, String]): SourceOptions =
    new SourceOptions(SortedMap.from(options.map { case (k, v) => fold(k) -> (k -> v) }), "")
}
