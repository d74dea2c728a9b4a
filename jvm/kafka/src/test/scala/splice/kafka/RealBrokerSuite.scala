// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.KafkaBroker

/** The source over a real broker. */
final class RealBrokerSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start()
  private lazy val real   = new RealLog(broker)

  override protected def afterAll(): Unit = broker.close()

  test("reads what was written, batch after batch, over kept readers") {
    real.create("plain", 3)
    real.write("plain", 3, 0, 3000)
    val source = real.source("subscribe" -> "plain", "startingOffsets" -> "earliest", "maxOffsetsPerTrigger" -> "700")
    val read = real.run(source) { c =>
      Iterator
        .unfold(c.initial()) { at =>
          val until = c.advance(at, everything = false)
          if (until == at) None else Some(real.rows(source, c.tasks(at, until), "plain-run") -> until)
        }
        .toVector
        .flatten
    }
    assert(read.map(_._3).sorted == (0 until 3000).map(i => s"v$i").sorted)
    assert(read.groupBy(_._1).forall { case (_, rows) => rows.map(_._2) == rows.indices.map(_.toLong) })
  }
}
