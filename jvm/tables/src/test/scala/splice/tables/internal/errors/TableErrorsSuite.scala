// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.errors

import java.time.Clock

import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.{EnumeratorContext, ReadMode, StartPosition}
import splice.tables.DeltaSpark

/** Tests of the condition of an error of Spark, which decides the next step of the user. */
final class TableErrorsSuite extends AnyFunSuite with DeltaSpark {

  private lazy val delta: String = {
    val table = new CopiedTable(folder.resolve("delta"))
    (1 to 2).foreach(_ => table.commit())
    table.path.toString
  }

  /** Condition and message of the error of a start. */
  private def failure(options: (String, String)*): (String, String) = {
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "test")
    val error   = intercept[Exception] {
      val made = source(options: _*)
      val _    = made.schema
      made.enumerator(context).start(StartPosition.Configured)
    }
    error match {
      case e: SparkThrowable => e.getCondition -> error.getMessage
      case other             => fail(other)
    }
  }

  test("options that locate a table of a format are accepted, although 'dbtable' resembles 'table'") {
    val jdbc = Seq("format" -> "jdbc", "url" -> "jdbc:nosuch:orders", "onNoVersion" -> "warn")
    Seq("dbtable" -> "orders", "query" -> "SELECT 1").foreach { place =>
      assert(failure(jdbc :+ place: _*)._1 == "SPLICE_TABLE.DRIVER_NOT_FOUND", place)
    }
    assert(failure("format" -> "delta", "path" -> delta, "tables" -> "a")._1 == "SPLICE_OPTION.UNKNOWN")
  }
}
