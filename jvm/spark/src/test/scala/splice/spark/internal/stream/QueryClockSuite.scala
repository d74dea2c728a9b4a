// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import scala.util.Using

import org.apache.spark.sql.types.{LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.OffsetLog
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.internal.SteadyClock
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, NumberPosition, ReadMode, Source, SplitEnumerator}
import splice.spark.WithSpark

/** The clocks that a query passes to its source. */
final class QueryClockSuite extends AnyFunSuite with WithSpark {

  final private class Observed extends Source[NumberPosition] {
    var context: Option[EnumeratorContext]              = None
    override def kind: String                           = "observed"
    override def schema: StructType                     = new StructType().add("id", LongType)
    override def position(json: String): NumberPosition = throw new UnsupportedOperationException
    override def enumerator(of: EnumeratorContext): SplitEnumerator[NumberPosition] = {
      context = Some(of)
      throw new UnsupportedOperationException
    }
  }

  test("a stream and a batch use a steady clock for durations") {
    val _ = spark
    Seq(ReadMode.Stream, ReadMode.Batch).foreach { mode =>
      val source = new Observed
      intercept[UnsupportedOperationException] {
        Using.resource(
          CoordinatorFactory(
            source,
            SourceOptions(Map.empty),
            source.schema,
            new MemorySideLog,
            mode,
            None,
            OffsetLog.Empty
          )
        )(_.initial())
      }
      assert(source.context.exists(of => of.steady.isInstanceOf[SteadyClock] && !of.clock.isInstanceOf[SteadyClock]))
    }
  }
}
