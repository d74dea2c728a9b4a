// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.Clock
import java.util.concurrent.{Callable, Executors}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.Using

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source._
import splice.source.options.SourceOptions

/** Program that reads a topic in batches with two concurrent tasks. The program fails if rows are missing or memory
  * is exhausted.
  *
  * The arguments are the bootstrap servers, the topic, the number of batches and the number of records.
  */
object SmallHeap {

  private val Tasks = 2

  def main(arguments: Array[String]): Unit = {
    val Seq(servers, topic, batches, records) = arguments.toSeq: @unchecked
    val source                                = SourceProvider.create(SourceOptions(Map(
      "source"                  -> "kafka",
      "kafka.bootstrap.servers" -> servers,
      "subscribe"               -> topic,
      "startingOffsets"         -> "earliest",
      "maxOffsetsPerTrigger"    -> (records.toLong / batches.toLong).toString
    )))
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), Tasks, "small")
    val threads = Executors.newFixedThreadPool(Tasks)
    val read    = Using.resource(new Coordinator(source, context, Tasks, batchesToRetain = 100)) { c =>
      @tailrec def all(at: Position, rows: Long): Long = {
        val until = c.advance(at, everything = false)
        if (until == at) rows
        else {
          val tasks   = c.tasks(at, until)
          val factory = c.readers(source.schema, tasks)
          val work    = tasks.map(task => new Callable[Long] { override def call(): Long = rowsOf(factory, task) })
          all(until, rows + threads.invokeAll(work.asJava).asScala.map(_.get()).sum)
        }
      }
      all(c.initial(), 0)
    }
    println(s"$read of $records rows, ${Runtime.getRuntime.maxMemory >> 20} MiB of heap")
    // Threads of the pool would keep the JVM alive, so the program exits explicitly.
    sys.exit(if (read == records.toLong) 0 else 1)
  }

  private def rowsOf(factory: SplitReaderFactory, task: TaskRanges): Long =
    Using.resource(factory.rows(task))(reader => SplitReader.items(reader).size.toLong)
}
