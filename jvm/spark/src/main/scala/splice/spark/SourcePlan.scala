// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.time.Clock
import java.util.UUID

import org.apache.spark.sql.SparkSession

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.SlotRules
import splice.source.internal.entries.Json
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, ReadMode, SourceProvider, SourceSpec}
import splice.spark.internal.stream.{CoordinatorFactory, SparkJobs}
import splice.spark.internal.table.ClassPathVersions

/** Preview of a query over a source, as if the query started now: legs, files, rows, batches, hand-overs and warnings.
  *
  * @param slots
  *   the number of tasks that share the partitions of a log
  * @param batches
  *   the number of batches up to the available end, or None if the number is unknown. The number is unknown if the
  *   start of a leg depends on rows that were not read, or if there are more batches than the plan counts
  * @param warnings
  *   warnings that a user should read before the query starts
  * @param json
  *   the complete plan as one JSON object
  */
final case class SourcePlan private (slots: Int, batches: Option[Long], warnings: Seq[String], json: String) {
  override def toString: String = json
}

object SourcePlan {

  /** Creates the plan of a source. The method lists files, reads footers, and sends requests to servers. The method
    * starts no query and writes no data.
    *
    * @param scan
    *   true if a Spark job reads the columns that hand-over rules need, so that the plan has the result of each rule
    * @throws splice.source.errors.SpliceException
    *   if the query could not start, for example because a topic does not exist
    */
  def of(spark: SparkSession, spec: SourceSpec, scan: Boolean = false): SourcePlan = of(spark, spec.options, scan)

  private[spark] def of(spark: SparkSession, written: Map[String, String], scan: Boolean): SourcePlan = {
    val before = SparkSession.getActiveSession
    SparkSession.setActiveSession(spark)
    try make(spark, written, scan)
    finally before.fold(SparkSession.clearActiveSession())(SparkSession.setActiveSession)
  }

  private def make(spark: SparkSession, written: Map[String, String], scan: Boolean): SourcePlan = {
    ClassPathVersions.check()
    val options = SourceOptions(written)
    val source  = SourceProvider.create(options)
    val _       = source.schema
    val log     = new MemorySideLog
    source.preflight(log, _ => false)
    val context = EnumeratorContext(
      log,
      ReadMode.Stream,
      Clock.systemUTC(),
      CoordinatorFactory.cores(spark),
      UUID.randomUUID().toString,
      jobs = new SparkJobs(spark.sparkContext)
    )
    val legs     = source.plan(context, scan)
    val slots    = SlotRules.of(options, CoordinatorFactory.tasks(spark)).slots
    val batches  = Option.when(legs.forall(_.batches.exists(!_.isMore)))(legs.flatMap(_.batches).map(_.number).sum)
    val warnings = legs.flatMap(_.warnings)
    val fields   = Seq("source" -> Json.text(source.kind), "slots" -> Json.number(slots.toLong)) ++
      batches.map("batches" -> Json.number(_)) ++
      Seq("legs" -> Json.array(legs.map(_.json)), "warnings" -> Json.array(warnings.map(Json.text)))
    SourcePlan(slots, batches, warnings, Json.write(Json.obj(fields: _*)))
  }
}
