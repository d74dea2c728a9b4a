// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.fake

import java.time.Clock

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.types.{LongType, StructType}

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source._
import splice.source.options.SourceOptions
import splice.source.runtime.SideLog

/** Query over a source, with Spark's logs of offsets and commits, which survive a run. A sink replaces the rows of a
  * batch that is read again.
  *
  * @param step
  *   called before and after each durable step of a run
  */
final class FakeQuery(options: Map[String, String], step: String => Unit = _ => ()) {

  private val ends      = mutable.Buffer.empty[String]
  private val sink      = mutable.SortedMap.empty[Int, Seq[Long]]
  private val committed = mutable.Set.empty[Int]

  val log = new MemorySideLog

  /** Ids per batch. */
  def batches: Seq[Seq[Long]] = sink.values.toSeq

  def ids: Seq[Long] = batches.flatten

  /** Text of the position at the end of the last batch. */
  def last: String = ends.last

  /** Removes the last batches from Spark's logs, as a user does to read the batches again. */
  def rollBack(batches: Int): Unit = {
    ends.dropRightInPlace(batches)
    sink --= sink.keys.filter(_ >= ends.size).toSeq
    committed --= committed.filter(_ >= ends.size)
  }

  def source(): Source[_ <: Position] = SourceProvider.create(SourceOptions(options))

  /** Runs the query until no row is available.
    *
    * @param frozen
    *   true for Trigger.AvailableNow
    * @param between
    *   called after each batch, with the number of batches so far
    */
  def run(frozen: Boolean = false, between: Int => Unit = _ => ()): Unit = {
    val context = EnumeratorContext(new SteppedSideLog(log, step), ReadMode.Stream, Clock.systemUTC(), 2, "test")
    Using.resource(new Coordinator(source(), context, 2, 100)) { c =>
      c.open()
      if (frozen) c.freeze()
      ends.indices.filterNot(committed).foreach(execute(c, _))
      continue(c, between)
    }
  }

  @tailrec private def continue(c: Coordinator, between: Int => Unit): Unit = {
    val from  = start(c, ends.size)
    val until = c.advance(from, everything = false)
    if (until != from) {
      step("the offset is logged")
      ends += until.json
      step("the offset was logged")
      if (ends.size > 1) c.committed(from)
      execute(c, ends.size - 1)
      between(ends.size)
      continue(c, between)
    }
  }

  private def start(c: Coordinator, batch: Int) = if (batch == 0) c.initial() else c.position(ends(batch - 1))

  private def execute(c: Coordinator, batch: Int): Unit = {
    val tasks   = c.tasks(start(c, batch), c.position(ends(batch)))
    val columns = new StructType().add("id", LongType)
    val readers = c.readers(columns, tasks)
    sink(batch) = tasks.flatMap(task =>
      Using.resource(readers.rows(task))(reader => SplitReader.items(reader).map(_.getLong(0)).toVector)
    ).sorted
    step("the batch is committed")
    committed += batch
    step("the batch was committed")
    val _ = c.figures(c.position(ends(batch)))
  }
}

/** Calls a function before and after each new entry. */
final private class SteppedSideLog(inner: SideLog, step: String => Unit) extends SideLog {
  override def get(key: String): Option[Seq[String]]                         = inner.get(key)
  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    val lines = decide
    step(s"$key is written")
    val stored = inner.getOrCreate(key)(lines)
    step(s"$key was written")
    stored
  }
  override def keys(prefix: String): Seq[String] = inner.keys(prefix)
  override def remove(key: String): Unit         = inner.remove(key)
  override def scope(name: String): SideLog      = new SteppedSideLog(inner.scope(name), step)
  override def folder(name: String): Path        = inner.folder(name)
}
