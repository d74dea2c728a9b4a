// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import java.io.InterruptedIOException

import scala.annotation.tailrec
import scala.collection.immutable.SortedSet
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.source.errors.CheckpointErrors
import splice.source.runtime.SideLog

/** Side-log entries with keys `<prefix>-<n>`, where `n` has eight digits or more. Used by one thread.
  *
  * @param parse
  *   parses an entry. Called at each access, so a caller with frequent accesses should store the result
  */
final private[splice] class NumberedEntries[A](log: SideLog, prefix: String)(parse: VersionedEntry => A) {

  private var known: SortedSet[Int] = SortedSet.from(log.keys(s"$prefix-").flatMap(NumberedEntries.number(prefix, _)))

  private var warned = false

  /** Numbers of all entries that this object has found or created. */
  def numbers: SortedSet[Int] = known

  /** All entries, oldest first. */
  def all: Seq[A] = known.toSeq.map(apply)

  /** Returns the entry of this number, or None if the entry does not exist. */
  def find(number: Int): Option[A] = if (known(number)) log.get(key(number)).map(read(number, _)) else None

  /** @throws SpliceException if the entry does not exist */
  def apply(number: Int): A =
    find(number).getOrElse(throw CheckpointErrors.missingEntry(VersionedEntry.name(key(number))))

  /** Returns the entry of this number. If the entry does not exist, stores `lines`. The entry is durable when this
    * method returns.
    */
  def getOrCreate(number: Int)(lines: => Seq[String]): A = {
    val durable = log.getOrCreate(key(number))(lines)
    known += number
    read(number, durable)
  }

  /** Creates the next entry, which is durable when this method returns. If another run has created this entry, returns
    * the entry of the other run.
    */
  def append(lines: => Seq[String]): A = getOrCreate(next)(lines)

  /** Creates entries until `isWanted` is true for an entry, and returns this entry. Other runs may have created the
    * previous entries.
    *
    * @param receiver
    *   receives each of these entries with its number
    */
  @tailrec def appendUntil(lines: => Seq[String])(receiver: (Int, A) => Unit)(isWanted: A => Boolean): A = {
    val number = next
    val entry  = getOrCreate(number)(lines)
    receiver(number, entry)
    if (isWanted(entry)) entry else appendUntil(lines)(receiver)(isWanted)
  }

  /** Creates an entry with these lines, and returns its number. The entry is durable when this method returns. The
    * entry follows all entries that other runs have created before. The method does not parse the lines.
    */
  @tailrec def create(lines: Seq[String]): Int = {
    val number  = next
    val durable = log.getOrCreate(key(number))(lines)
    known += number
    if (durable == lines) number else create(lines)
  }

  /** Number of the next entry. */
  def next: Int = known.lastOption.fold(0)(_ + 1)

  /** Removes entries that no batch needs. If the storage fails, the remaining entries stay until a later call. Only the
    * first failure of this object is logged.
    */
  def purge(numbers: Iterable[Int]): Unit =
    try numbers.foreach { number =>
        log.remove(key(number))
        known -= number
      }
    catch {
      case interrupted: InterruptedIOException => throw interrupted
      case NonFatal(e)                         =>
        if (!warned) {
          warned = true
          NumberedEntries.logger.warn(s"Side-log entries $prefix-<n> that no batch needs could not be removed.", e)
        }
    }

  private def key(number: Int): String = NumberedEntries.key(prefix, number)

  private def read(number: Int, lines: Seq[String]): A = parse(VersionedEntry.read(key(number), lines))
}

private[splice] object NumberedEntries {

  private val logger = LoggerFactory.getLogger(classOf[NumberedEntries[_]])

  def key(prefix: String, number: Int): String = f"$prefix-$number%08d"

  /** Returns the number in a key with this prefix, or None for any other key. Keys that [[key]] cannot return are other
    * keys.
    */
  def number(prefix: String, key: String): Option[Int] =
    key.stripPrefix(s"$prefix-").toIntOption.filter(n => n >= 0 && NumberedEntries.key(prefix, n) == key)
}
