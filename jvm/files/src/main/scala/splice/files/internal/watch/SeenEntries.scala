// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import scala.annotation.tailrec
import scala.collection.mutable

import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Side-log entries `seen-<n>`. An entry replaces consecutive segments that no batch needs, and older entries of this
  * kind. An entry has hash, time and length of each file that is not forgotten.
  *
  * Each entry has more than twice the files of the next entry. The number of entries therefore grows with the logarithm
  * of the number of files, and each file is written a limited number of times. An entry is removed when all its files
  * are forgotten.
  */
final private[files] class SeenEntries(log: SideLog) {

  import SeenEntries._

  private val entries = new NumberedEntries(log, Prefix)(identity)

  // Entries whose heads were read, until their files are read.
  private val whole = mutable.Map.empty[Int, VersionedEntry]

  private var heads: Vector[Head] = valid

  // A driver may have been killed before it removed the replaced entries.
  private def valid: Vector[Head] = {
    val all = entries.numbers.toVector.map { number =>
      val entry = entries(number)
      whole(number) = entry
      head(number, entry)
    }
    val valid = all.filterNot(head => all.exists(other => other.number > head.number && other.covers(head)))
    whole --= all.diff(valid).map(_.number)
    // Only entries whose files are all forgotten are removed.
    valid.headOption.filter(head => head.from > 0 && valid.forall(_.limit.isEmpty))
      .foreach(head => whole(head.number).corrupt("the entries before it are missing"))
    valid.zip(valid.drop(1)).find { case (head, next) => next.from != head.until }.foreach { case (head, next) =>
      whole(next.number).corrupt(s"the first file is not number ${head.until}")
    }
    valid
  }

  /** Number of files in these entries, counted from the first file of the list. */
  def files: Int = heads.lastOption.fold(0)(_.until)

  /** Time before which files were forgotten, in milliseconds since 1970. */
  def limit: Option[Long] = heads.flatMap(_.limit).maxOption

  /** Number of files that the entries do not have, because they were forgotten. */
  def forgotten: Long = heads.headOption.fold(0L)(_.from) + heads.map(_.forgotten).sum

  /** Least and greatest modification time of all files, except files of entries that were removed. */
  def modified: Option[(Long, Long)] = heads.map(_.modified).reduceOption { (a, b) =>
    (math.min(a._1, b._1), math.max(a._2, b._2))
  }

  /** Calls `receive` for each file. */
  def foreach(receive: SeenFile => Unit): Unit = heads.foreach(head => read(head).foreach(receive))

  /** Adds the next files of the list. The files are durable when this method returns.
    *
    * @param raised
    *   time before which files are forgotten, if it is later than [[limit]]
    * @return
    *   true if the entries have these files; false if another driver has stored other files first
    */
  def add(files: Seq[SeenFile], raised: Option[Long]): Boolean = {
    // The limit never falls, also if a run does not know it yet.
    val limit    = (raised ++ this.limit).maxOption
    val replaced = heads.takeRight(merged(heads.map(_.size), files.size))
    val from     = replaced.headOption.fold(this.files)(_.from)
    val until    = this.files + files.size
    val all      = replaced.iterator.flatMap(read) ++ files
    val kept     = all.filter(file => limit.forall(file.modified >= _)).toVector
    val times    = replaced.map(_.modified) ++ files.map(file => (file.modified, file.modified))
    val number   = entries.next
    val stored   = head(
      number,
      entries.getOrCreate(number)(VersionedEntry.write(
        Seq(
          "from"      -> Json.number(from.toLong),
          "until"     -> Json.number(until.toLong),
          "forgotten" -> Json.number(until.toLong - from - kept.size),
          "oldest"    -> Json.number(times.map(_._1).min),
          "newest"    -> Json.number(times.map(_._2).max)
        ) ++ limit.map("limit" -> Json.number(_)),
        kept.map(line)
      ))
    )
    heads = if (stored.from == from && stored.until == until) heads.dropRight(replaced.size) :+ stored else valid
    // The last entry has the limit, and all files of these entries are forgotten.
    whole.clear()
    heads = heads.dropWhile(head => head != heads.last && stored.limit.exists(head.modified._2 < _))
    entries.purge(entries.numbers.toSeq.filterNot(number => heads.exists(_.number == number)))
    stored.from == from && stored.until == until
  }

  private def read(head: Head): Iterator[SeenFile] = {
    val entry = whole.remove(head.number).getOrElse(entries(head.number))
    entry.lines.iterator.map(line => file(line).getOrElse(entry.corrupt(s"'$line' is not a file")))
  }

  private def head(number: Int, entry: VersionedEntry): Head = Head(
    number,
    entry.long("from").toInt,
    entry.long("until").toInt,
    entry.long("forgotten"),
    (entry.long("oldest"), entry.long("newest")),
    entry.find("limit").map(_.asLong)
  )
}

private[files] object SeenEntries {

  private val Prefix = "seen"

  private val Radix = 36

  /** Head of an entry with the files `from` to `until` of the list. */
  final private case class Head(
      number: Int,
      from: Int,
      until: Int,
      forgotten: Long,
      modified: (Long, Long),
      limit: Option[Long]
  ) {
    def size: Int = until - from

    def covers(other: Head): Boolean = from <= other.from && other.until <= until
  }

  /** Number of the last entries that a new entry replaces.
    *
    * @param sizes
    *   numbers of files of the entries, oldest first
    */
  def merged(sizes: Seq[Int], added: Int): Int = {
    @tailrec def grown(older: List[Int], entries: Int, files: Long): Int = older match {
      case size :: rest if size <= 2 * files => grown(rest, entries + 1, files + size)
      case _                                 => entries
    }
    grown(sizes.reverse.toList, 0, added.toLong)
  }

  private def line(file: SeenFile): String =
    Seq(file.high, file.low, file.modified, file.length).map(java.lang.Long.toString(_, Radix)).mkString(" ")

  private def file(line: String): Option[SeenFile] =
    try {
      val low                        = line.indexOf(' ') + 1
      val modified                   = line.indexOf(' ', low) + 1
      val length                     = line.indexOf(' ', modified) + 1
      def number(from: Int, to: Int) = java.lang.Long.parseLong(line, from, to, Radix)
      if (low == 0 || modified == 0 || length == 0) None
      else Some(SeenFile(
        number(0, low - 1),
        number(low, modified - 1),
        number(modified, length - 1),
        number(length, line.length)
      ))
    } catch { case _: NumberFormatException => None }
}
