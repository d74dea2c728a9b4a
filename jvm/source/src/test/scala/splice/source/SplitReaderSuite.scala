// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

class SplitReaderSuite extends AnyFunSuite {

  final private class Reader(results: Poll*) extends SplitReader[Int] {
    private val left                            = results.iterator
    private var found                           = 0
    override def poll(patience: Duration): Poll = {
      found += 1
      left.nextOption().getOrElse(Poll.Ended)
    }
    override def get(): Int    = found
    override def close(): Unit = ()
  }

  test("items returns all items of a reader before its end") {
    assert(SplitReader.items(new Reader(Poll.Found, Poll.Found, Poll.Ended)).toSeq == Seq(1, 2))
  }

  test("hasNext fails if a reader returns Pending, because its rows would be lost") {
    val reader = new Reader(Poll.Found, Poll.Pending, Poll.Found)
    assert(SplitReader.hasNext(reader))
    val error = intercept[IllegalStateException](SplitReader.hasNext(reader))
    assert(error.getMessage.contains("Reader returned Pending"))
  }
}
