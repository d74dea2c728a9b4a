// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.slices

import java.math.{BigDecimal => JDecimal}
import java.sql.{Date, Timestamp}
import java.time.{Duration, Instant, LocalDate, LocalDateTime}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.{Column, DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.tables.DeltaSpark
import splice.tables.internal.options.SliceStep

/** Tests that slices partition the rows of a table, whatever the values are. */
final class SlicesSuite extends AnyFunSuite with DeltaSpark {

  private type Value = Random => Any

  private def pick[A](values: A*): Random => A = random => values(random.nextInt(values.size))

  private val kinds: Seq[(DataType, Value)] = Seq(
    LongType    -> (r => pick(0L, 1L, r.nextLong(), r.nextInt(100).toLong, Long.MinValue, Long.MaxValue)(r)),
    IntegerType -> (r => pick(0, r.nextInt(), Int.MinValue, Int.MaxValue)(r)),
    DoubleType  ->
      (r => pick(0.0, -0.0, Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, r.nextGaussian())(r)),
    FloatType          -> (r => pick(0f, Float.NaN, Float.MinValue, r.nextFloat())(r)),
    DecimalType(20, 3) ->
      (r => pick(new JDecimal("0.001"), JDecimal.valueOf(r.nextLong(), 3).round(new java.math.MathContext(17)))(r)),
    StringType    -> (r => pick("", "a", "ä", "a'b`c\\", "\u0000", r.nextString(3), "\ud83d\ude00")(r)),
    BooleanType   -> (r => r.nextBoolean()),
    DateType      -> (r => Date.valueOf(LocalDate.ofEpochDay(pick(0, -1, 20000, -300000, r.nextInt(30000))(r).toLong))),
    TimestampType ->
      (r =>
        Timestamp.from(Instant.ofEpochSecond(
          pick(0L, -1L, r.nextInt().toLong, 1792886400L)(r),
          r.nextInt(1000000) * 1000L
        ))
      ),
    TimestampNTZType ->
      (r =>
        LocalDateTime.of(
          pick(1, 1970, 2026, 9999)(r),
          1 + r.nextInt(12),
          1 + r.nextInt(28),
          r.nextInt(24),
          0,
          0,
          r.nextInt(1000000) * 1000
        )
      )
  )

  private def table(kind: DataType, values: Seq[Any]): DataFrame =
    spark.createDataFrame(values.map(Row(_)).asJava, StructType(Seq(StructField("x", kind))))

  // Spark computes a selection of local rows on the driver, without a job.
  private def column(rows: DataFrame, of: Column): Seq[Any] = rows.select(of).collect().toSeq.map(_.get(0))

  /** Texts of the distinct values of each world in the order of Spark. */
  private def sorted(by: SliceColumn, worlds: Seq[Seq[Any]]): Seq[Vector[String]] = {
    val kind = StructType(Seq(StructField("xs", ArrayType(by.kind))))
    val all  = spark.createDataFrame(worlds.map(Row(_)).asJava, kind)
    val rows = all.select(transform(sort_array(array_distinct(col("xs"))), by.texts(_))).collect().toSeq
    rows.map(_.getSeq[String](0).toVector)
  }

  private def matches(slices: Slices, from: Int, until: Int): Column =
    slices.predicate(from, until).fold(lit(1))(p => when(p, 1).otherwise(0))

  kinds.foreach { case (kind, value) =>
    test(s"slices of ${kind.sql} partition all rows, also rows outside of the bounds and without a value") {
      (1 to SlicesSuite.Seeds).foreach { seed =>
        val random          = new Random(seed)
        def some(most: Int) = Seq.fill(1 + random.nextInt(most))(value(random))
        val by              = SliceColumn("x", kind)
        val known           = Seq.fill(SlicesSuite.Worlds)(some(8))
        val worlds          = sorted(by, known).map(bounds => Slices.ByColumn(by, bounds.drop(1)))
        val divisions       = worlds.map { slices =>
          val cut = random.nextInt(slices.size)
          if (random.nextBoolean()) (0 until slices.size).map(i => i -> (i + 1))
          else Seq(0 -> cut, cut -> slices.size).filter { case (a, b) => a < b }
        }
        // One selection has a column per world.
        val rows  = table(kind, None.orNull +: (some(30) ++ known.flatten.distinct.take(100)))
        val found = worlds.zip(divisions).map { case (slices, division) =>
          division.map { case (a, b) => matches(slices, a, b) }.reduce(_ + _)
        }
        rows.select(found: _*).collect().foreach { row =>
          worlds.indices.foreach { i =>
            assert(row.getInt(i) == 1, s"seed $seed, ${worlds(i).bounds}, ${divisions(i)}")
          }
        }
      }
    }
  }

  test("the last slice of a table without versions ends at the greatest value") {
    val slices                    = Slices.ByColumn(SliceColumn("x", LongType), Vector("10"), Some("19"))
    val rows                      = table(LongType, Seq(1L, 10L, 19L, 20L, None.orNull))
    def of(from: Int, until: Int) = column(rows, matches(slices, from, until))
    assert(of(0, 1) == Seq(1, 0, 0, 0, 0) && of(1, 2) == Seq(0, 1, 1, 0, 0) && of(2, 3) == Seq(0, 0, 0, 0, 1))
    assert(of(0, 3) == Seq(1, 1, 1, 0, 1) && of(1, 3) == Seq(0, 1, 1, 0, 1))
  }

  test("bounds are the multiples of the width between the least and the greatest value") {
    def every(kind: DataType, least: String, greatest: String, step: SliceStep) =
      SliceBounds.every(SliceColumn("x", kind), least, greatest, step, 100)
    val day = SliceStep.OfTime(Duration.ofDays(1))
    assert(every(LongType, "-5", "25", SliceStep.OfNumber(10)).contains(Vector("0", "10", "20")))
    assert(every(LongType, "10", "10", SliceStep.OfNumber(10)).contains(Vector.empty))
    assert(every(DoubleType, "0.1", "0.35", SliceStep.OfNumber(0.1)).contains(Vector("0.2", "0.3")))
    assert(every(DateType, "100", "103", day).contains(Vector("101", "102", "103")))
    assert(every(TimestampType, "1", "172800000000", day).contains(Vector("86400000000", "172800000000")))
    assert(every(TimestampNTZType, "2026-01-01 12:00:00", "2026-01-03 00:00:00", day)
      .contains(Vector("2026-01-02 00:00", "2026-01-03 00:00")))
    assert(every(DateType, "31", "120", SliceStep.OfMonths(1)).contains(Vector("59", "90", "120")))
    assert(every(LongType, "0", "1000", SliceStep.OfNumber(10)).nonEmpty)
    assert(every(LongType, "0", "1010", SliceStep.OfNumber(10)).isEmpty)
    assert(every(LongType, Long.MinValue.toString, Long.MaxValue.toString, SliceStep.OfNumber(1)).isEmpty)
  }

  test("a number of slices gives bounds of equal distance, and no empty slice for close whole numbers") {
    def count(kind: DataType, least: String, greatest: String, number: Int) =
      SliceBounds.count(SliceColumn("x", kind), least, greatest, number)
    assert(count(LongType, "0", "100", 4) == Vector("25", "50", "75"))
    assert(count(LongType, "7", "8", 4) == Vector("8"))
    assert(count(LongType, "7", "7", 4) == Vector.empty)
    assert(count(DoubleType, "0.0", "1.0", 2) == Vector("0.5"))
  }
}

private object SlicesSuite {

  /** Worlds of one selection. */
  val Worlds: Int = 60

  /** Selections of each type. All tests together have 3,000 worlds. */
  val Seeds: Int = 5
}
