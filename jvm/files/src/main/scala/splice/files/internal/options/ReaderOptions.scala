// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import scala.collection.immutable.SortedMap

import splice.source.internal.Secrets
import splice.source.options.SourceOptions.fold

/** Options of a format that affect rows or values of a file. A list stores these options of the start that created
  * it.
  *
  * @param values
  *   keys and values as set by the user, without secrets
  */
final private[splice] case class ReaderOptions(values: SortedMap[String, String]) {

  /** First option that differs: its name, its value in this object and its value in `now`. */
  def difference(now: ReaderOptions): Option[(String, Option[String], Option[String])] = {
    val (mine, theirs) = (byKey, now.byKey)
    (mine.keySet ++ theirs.keySet).toSeq.sorted.find { key =>
      mine.get(key).map(o => ReaderOptions.meaning(o._2)) != theirs.get(key).map(o => ReaderOptions.meaning(o._2))
    }.map { key =>
      val name = mine.get(key).orElse(theirs.get(key)).fold(key)(_._1)
      (name, mine.get(key).map(_._2), theirs.get(key).map(_._2))
    }
  }

  private def byKey: Map[String, (String, String)] =
    values.map { case (key, value) => fold(key) -> (key -> value) }
}

private[splice] object ReaderOptions {

  val Empty: ReaderOptions = ReaderOptions(SortedMap.empty)

  // Options of listing, schema inference and unreadable files are ignored, because a list already contains files and
  // columns.
  private val others = Set("ignoreMissingFiles", "ignoreCorruptFiles", "inferSchema", "samplingRatio", "mergeSchema")
    .map(fold) ++ FileOptions.ofListing.map(option => fold(option.key))

  // Properties of storage systems and of encryption do not affect rows or values.
  private val properties =
    Seq("fs.", "dfs.", "hadoop.", "ipc.", "io.", "google.", "parquet.crypto.", "parquet.encryption.")

  /** @param options options of Spark's reader */
  def of(options: Map[String, String]): ReaderOptions = ReaderOptions(SortedMap.from(options.collect {
    case (key, value) if isReaders(fold(key)) => key -> Secrets.redactStored(key, value)
  }))

  private def isReaders(key: String): Boolean =
    !others(key) && !Secrets.isSecret(key) && !properties.exists(key.startsWith)

  private def meaning(value: String): String = value.toBooleanOption.fold(value)(_.toString)
}
