// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read.Scan.ColumnarSupportMode
import org.apache.spark.sql.connector.read.streaming.{ContinuousStream, MicroBatchStream}
import org.apache.spark.sql.connector.read.{Batch, Scan}
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.source.internal.Secrets
import splice.source.options.SourceOptions
import splice.source.{Position, Source}
import splice.spark.internal.errors.FrontErrors
import splice.spark.internal.stream.{RealTimeLimits, SourceRun, SpliceContinuousStream, SpliceMicroBatchStream}

/** One read of a source: a batch or a stream. */
final private[spark] class SpliceScan(source: Source[_ <: Position], options: SourceOptions, columns: StructType)
    extends Scan {

  override def readSchema: StructType = columns

  override def description: String = s"splice $source"

  // Spark calls `toBatch` for each of its plans of one query, but a batch is planned once.
  private lazy val batch = {
    warnOfSecrets()
    new SpliceBatch(source, options, columns)
  }

  override def toBatch: Batch = batch

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = {
    warnOfSecrets()
    SpliceMicroBatchStream(source, options, columns, checkpointLocation)
  }

  override def toContinuousStream(checkpointLocation: String): ContinuousStream = {
    warnOfSecrets()
    new SpliceContinuousStream(
      SourceRun.open(source, options, columns, checkpointLocation),
      run => {
        RealTimeLimits.check(source, options)(FrontErrors.limitsInContinuous(_))
        val timed = run.timed.getOrElse(throw FrontErrors.notContinuous(source.kind))
        timed.unsupportedLeg.foreach(leg => throw FrontErrors.notContinuous(leg))
        timed.skippingLeg.foreach(leg => throw FrontErrors.skipsInContinuous(leg))
        timed
      }
    )
  }

  private def warnOfSecrets(): Unit = {
    val shown = Secrets.shownBySpark(options.toMap)
    if (shown.nonEmpty) SpliceScan.logger.warn(
      "Spark shows the secrets of these options in plans, in the UI and in the event log: {}. Set references such as " +
        s"$${file:/run/secrets/kafka.properties:key}, or a value of spark.redaction.regex that matches the names.",
      shown.mkString(", ")
    )
  }

  override def supportedCustomMetrics: Array[CustomMetric] = source.taskMetrics.toArray

  // With a decision per partition, Spark plans a batch twice. A source that returns only rows needs no such decision.
  override def columnarSupportMode: ColumnarSupportMode =
    if (source.mayBeColumnar) ColumnarSupportMode.PARTITION_DEFINED else ColumnarSupportMode.UNSUPPORTED
}

private object SpliceScan {
  private val logger = LoggerFactory.getLogger(classOf[SpliceScan])
}
