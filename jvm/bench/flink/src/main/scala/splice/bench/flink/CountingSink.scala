// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.flink

import java.util.concurrent.atomic.AtomicLong

import org.apache.flink.api.connector.sink2.{Sink, SinkWriter, WriterInitContext}

/** Sink that counts and drops all values. All tasks run in this JVM. */
final class CountingSink extends Sink[Array[Byte]] {

  override def createWriter(context: WriterInitContext): SinkWriter[Array[Byte]] = new CountingSink.Writer
}

object CountingSink {

  /** Number of values of all closed writers. */
  val rows = new AtomicLong

  final private class Writer extends SinkWriter[Array[Byte]] {
    private var count = 0L

    override def write(element: Array[Byte], context: SinkWriter.Context): Unit = count += 1
    override def flush(endOfInput: Boolean): Unit                               = ()
    override def close(): Unit                                                  = { val _ = rows.addAndGet(count) }
  }
}
