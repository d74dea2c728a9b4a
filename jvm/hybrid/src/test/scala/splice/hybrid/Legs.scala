// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Clock
import java.util.UUID

import org.apache.spark.sql.types.StructType

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.simulation.leg.Passing
import splice.source.options.SourceOptions
import splice.source.runtime.{Boundedness, SideLog}
import splice.source.{EnumeratorContext, Position, ReadMode, Source, SourceProvider, SplitEnumerator}
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Creates chains of logs in memory. */
object Legs {

  /** Creates a log with a unique name. */
  def log(partitions: Int = 2): MemoryLog = new MemoryLog(s"log-${UUID.randomUUID()}").addPartitions(partitions)

  /** Creates an archive of another log with all records in one partition. */
  def archiveOf(live: MemoryLog, until: Map[Int, Long]): MemoryLog = {
    val archive = log(1)
    until.toSeq.sortBy(_._1).foreach { case (p, end) => live.read(p, 0, end).foreach(archive.archive(0, _)) }
    archive
  }

  def options(legs: (String, Seq[(String, String)])*): Map[String, String] =
    Map("source" -> "hybrid", "legs" -> legs.map(_._1).mkString(",")) ++
      legs.flatMap { case (name, own) => own.map { case (k, v) => s"$name.$k" -> v } }

  def history(log: MemoryLog, more: (String, String)*): (String, Seq[(String, String)]) =
    "history" -> MemoryOptions.of(log, Seq("bounded" -> "true") ++ more: _*)

  def live(log: MemoryLog, more: (String, String)*): (String, Seq[(String, String)]) =
    "live" -> MemoryOptions.of(log, more: _*)

  def source(options: Map[String, String]): Source[_ <: Position] = SourceProvider.create(SourceOptions(options))

  def source(legs: (String, Seq[(String, String)])*): Source[_ <: Position] = source(options(legs: _*))

  def context(log: SideLog, clock: Clock = Clock.systemUTC()): EnumeratorContext =
    EnumeratorContext(log, ReadMode.Stream, clock, 2, "test")

  def run(
      source: Source[_ <: Position],
      log: SideLog = new MemorySideLog,
      clock: Clock = Clock.systemUTC()
  ): Coordinator = {
    val created = new Coordinator(source, context(log, clock), 2, 100)
    created.open()
    created
  }
}

/** Source that reads a log.
  *
  * @param isCommitted
  *   true if the commit of its end succeeds
  */
final class OfLog(
    inner: Source[_ <: Position],
    override val commits: Boolean = false,
    isCommitted: () => Boolean = () => true
) extends Source[Position] {
  override def kind: String                                                      = inner.kind
  override def schema: StructType                                                = inner.schema
  override def position(json: String): Position                                  = inner.position(json)
  override def boundedness: Boundedness                                          = inner.boundedness
  override def readsLog: Boolean                                                 = true
  override def enumerator(context: EnumeratorContext): SplitEnumerator[Position] =
    new Passing(SplitEnumerator.untyped(inner, context)) {
      override def commitEnd(at: Position): Boolean = super.commitEnd(at) && isCommitted()
    }
}
