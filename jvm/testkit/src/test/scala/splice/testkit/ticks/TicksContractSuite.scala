// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.ticks

import java.time.{Clock, Duration, Instant}

import org.apache.spark.sql.SparkSession

import splice.source.options.SourceOptions
import splice.source.{Position, Source, SourceProvider}
import splice.testkit.SourceContract
import splice.testkit.simulation.SimulatedClock

/** Contract tests of a minimal connector. */
final class TicksContractSuite extends SourceContract {

  private val time = new SimulatedClock(Instant.ofEpochSecond(100))

  override protected def clock: Clock = time

  override protected lazy val spark: SparkSession =
    SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate()

  override protected def world(): World = new World {
    private val options =
      Map("source" -> "ticks", "everyMs" -> "1000", "firstTick" -> (time.millis() / 1000 - 9).toString)

    override def source(): Source[_ <: Position] = SourceProvider.create(SourceOptions(options))

    override def grow(): Unit = time.advance(Duration.ofSeconds(7))
  }
}
