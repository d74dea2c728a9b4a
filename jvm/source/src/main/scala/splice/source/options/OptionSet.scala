// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import org.apache.spark.unsafe.types.UTF8String
import org.slf4j.LoggerFactory

import splice.source.errors.OptionErrors
import splice.source.options.SourceOptions.fold

/** Options that a component supports.
  *
  * @param title
  *   heading of the reference page
  * @param others
  *   true for a key that the component passes on, for example to a file format or a Kafka client
  * @param named
  *   true for a key among `others` that errors of the component may name
  */
final case class OptionSet(
    title: String,
    options: Seq[SourceOption[_]],
    others: String => Boolean = _ => false,
    named: String => Boolean = _ => false
) {

  private val keys = options.map(o => fold(o.key)).toSet

  def ++(more: OptionSet): OptionSet =
    OptionSet(title, options ++ more.options, k => others(k) || more.others(k), k => named(k) || more.named(k))

  /** True if a text in quotes in an error is the key of an option. */
  private[splice] def has(key: String): Boolean = keys(fold(key)) || named(key)

  /** Throws an error for all unknown keys, each with the most similar supported key. If `onUnknownOption` is `warn`,
    * logs one warning per unknown key instead.
    */
  def rejectUnknown(of: SourceOptions): Unit = {
    val known   = keys ++ CommonOptions.set.keys
    val unknown = of.keys.filterNot(k => known(fold(k)) || others(k))
    unknown.map(key => of.name(key) -> nearest(key).map(of.name)) match {
      case Seq((key, near), more @ _*) => of(CommonOptions.OnUnknown) match {
          case FailOrWarn.Fail => throw OptionErrors.unknown(key, near, more)
          case FailOrWarn.Warn =>
            ((key, near) +: more).foreach { case (one, like) =>
              OptionSet.logger.warn(OptionErrors.unknown(one, like).text)
            }
        }
      case _ => ()
    }
  }

  private def nearest(key: String): Option[String] = {
    val candidates = (options ++ CommonOptions.set.options).map(_.key)
    candidates.map(c => c -> OptionSet.distance(key, c)).minByOption(
      _._2
    ).collect {
      case (c, distance) if distance <= 1 + key.length / 3 => c
    }
  }
}

object OptionSet {
  private val logger = LoggerFactory.getLogger(classOf[OptionSet])

  /** Number of letters to insert, remove or replace to change one key into the other (Levenshtein distance), ignoring
    * case.
    */
  private[splice] def distance(a: String, b: String): Int = {
    def text(key: String) = UTF8String.fromString(fold(key))
    text(a).levenshteinDistance(text(b))
  }

  /** True if a key resembles an option of Splice, or is an option of Splice. Such a key is a typing error, because a
    * component that receives all other keys would ignore the key silently.
    */
  private[splice] def resembles(key: String, options: Seq[SourceOption[_]]): Boolean = {
    val word  = fold(key)
    val slips = if (word.length > 4) 2 else 1
    options.exists(option => distance(word, option.key) <= slips)
  }
}
