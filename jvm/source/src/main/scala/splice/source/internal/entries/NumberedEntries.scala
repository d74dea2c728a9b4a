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

/** The entries `<prefix>-<n>` of a side log, with eight digits or more. Used by one thread.
  *
  * @param parse
  *   reads an entry; called for each access, so a caller that asks often keeps the result
  */
final private[splice] class NumberedEntries[A](log: SideLog, prefix: String)(parse: VersionedEntry => A) {

  private var known: SortedSet[Int] = SortedSet.from(log.keys(s"$prefix-").flatMap(NumberedEntries.number(prefix, _)))

  private var warned = false

  /** The numbers of all entries. */
  def numbers: SortedSet[Int] = known

  /** All entries, oldest first. */
  def all: Seq[A] = known.toSeq.map(apply)

  def find(number: Int): Option[A] = if (known(number)) log.get(key(number)).map(read(number, _)) else None

  /** @throws SpliceException when there is no entry of this number */
  def apply(number: Int): A =
    find(number).getOrElse(throw CheckpointErrors.missingEntry(s"Side-log entry ${key(number)}"))

  /** The entry of this number; `lines` is used, and durable when this returns, only if there is none. */
  def getOrCreate(number: Int)(lines: => Seq[String]): A = {
    val durable = log.getOrCreate(key(number))(lines)
    known += number
    read(number, durable)
  }

  /** Creates the next entry, durable when this returns. The result is another run's entry if that run created it first. */
  def append(lines: => Seq[String]): A = getOrCreate(next)(lines)

  /** Creates the next entry until one fulfils a condition, and returns that one. Other runs may have created the entries before it.
    *
    * @param found
    *   receives each of these entries with its number
    */
  @tailrec def appendUntil(lines: => Seq[String])(found: (Int, A) => Unit)(isWanted: A => Boolean): A = {
    val number = next
    val entry  = getOrCreate(number)(lines)
    found(number, entry)
    if (isWanted(entry)) entry else appendUntil(lines)(found)(isWanted)
  }

  /** Creates an entry with these lines, durable when this returns, and returns its number. It follows all entries that other runs have
    * created meanwhile. The lines are not parsed.
    */
  @tailrec def create(lines: Seq[String]): Int = {
    val number  = next
    val durable = log.getOrCreate(key(number))(lines)
    known += number
    if (durable == lines) number else create(lines)
  }

  /** The number of the next entry. */
  def next: Int = known.lastOption.fold(0)(_ + 1)

  /** Removes entries that nothing needs any more. If the storage fails, the rest stays until a later call, and the first failure of this
    * object is logged.
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

  /** The number of an entry of this prefix; None for any other key, also one that [[key]] does not give. */
  def number(prefix: String, key: String): Option[Int] =
    key.stripPrefix(s"$prefix-").toIntOption.filter(n => n >= 0 && NumberedEntries.key(prefix, n) == key)
}
