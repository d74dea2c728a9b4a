// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.split

import scala.annotation.tailrec
import scala.collection.immutable.SortedSet

import splice.source.{CheckpointErrors, SideLog}

/** Keeps positions that are too long for an offset in entries of their own, which are durable before an offset names them.
  *
  * No decision is made by an entry: one that a killed run left behind and that no offset names is void.
  *
  * @param batchesToRetain
  *   for how many committed batches Spark keeps offsets
  * @param longest
  *   how many characters of JSON an offset may have
  */
final private[dynamic] class PositionLog(
    log: SideLog,
    batchesToRetain: Int,
    longest: Int = PositionLog.Longest
) {

  import PositionLog._

  private var numbers: SortedSet[Int] = SortedSet.from(log.keys(StoredPosition.Prefix).flatMap(StoredPosition.number))

  // A batch is asked about by its begin and its end, several times.
  private var recent: Vector[(Int, DynamicPosition)] = Vector.empty

  /** What an offset says of a position. The position is durable when this returns, if the offset only names it. */
  def offset(position: DynamicPosition): DynamicOffset =
    if (numbers.isEmpty && position.length <= longest) position
    else {
      // What a killed run wrote and no offset names yet is often the same.
      val number = numbers.lastOption.filter(find(_).sameAs(position)).getOrElse(append(position))
      StoredPosition(number, position.change)
    }

  /** The position that an offset says, or names.
    *
    * @throws splice.source.SpliceException
    *   when the entry is missing or damaged
    */
  def apply(offset: DynamicOffset): DynamicPosition = offset match {
    case whole: DynamicPosition => whole
    case stored: StoredPosition => find(stored.number)
  }

  /** Forgets the positions that only offsets name which Spark no longer keeps. */
  def purge(committed: DynamicOffset): Unit = committed match {
    case StoredPosition(number, _) =>
      // A batch names one entry at most, and a run that is killed leaves one at most that none names.
      numbers.rangeTo(number).dropRight(batchesToRetain * 2).foreach { old =>
        log.remove(StoredPosition.key(old))
        numbers -= old
      }
    case _ => ()
  }

  private def find(number: Int): DynamicPosition = recent.collectFirst { case (`number`, known) => known }.getOrElse {
    val key   = StoredPosition.key(number)
    val lines = log.get(key).getOrElse(throw CheckpointErrors.missingEntry(s"Side-log entry $key"))
    remember(number, PositionFormat.read(key, lines))
  }

  @tailrec private def append(position: DynamicPosition): Int = {
    val number = numbers.lastOption.fold(0)(_ + 1)
    val lines  = PositionFormat.write(position)
    val there  = log.getOrCreate(StoredPosition.key(number))(lines)
    numbers += number
    // Another run of the query may still be about to end.
    if (there != lines) append(position)
    else {
      val _ = remember(number, position)
      number
    }
  }

  private def remember(number: Int, position: DynamicPosition): DynamicPosition = {
    recent = (recent :+ (number -> position)).takeRight(Remembered)
    position
  }
}

private[dynamic] object PositionLog {

  /** An offset is one line of a file that Spark reads and writes for every batch, and shows with every progress. */
  val Longest = 100000

  private val Remembered = 4
}
