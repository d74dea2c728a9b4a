// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Reading a whole topic: bare consumers, Spark's own source, Splice. */
final class KafkaRace(queries: Queries, servers: String, plan: BenchPlan) {

  private val topic = s"bench-${plan.rows}-${plan.bytes}-${plan.partitions}"

  private val options = Map("kafka.bootstrap.servers" -> servers, "subscribe" -> topic, "startingOffsets" -> "earliest")

  private val bare = Contender(
    s"${plan.cores} bare consumers",
    () => Some(new BareConsumers(servers, topic, plan.partitions, plan.cores).read())
  )

  def run(): String = {
    println(s"filling $topic")
    KafkaLoad.fill(servers, topic, plan.partitions, plan.rows, plan.bytes)
    val batch  = race("batch", format => queries.batch(format, options))
    val stream = race("AvailableNow, one batch", format => Some(queries.availableNow(format, options)))
    s"$batch\n\n$stream"
  }

  private def race(how: String, read: String => Option[Long]): String = {
    println(how)
    val spark   = Contender("Spark kafka", () => read("kafka"))
    val splice  = Contender("Splice kafka", () => read("splice-kafka"))
    val timings = Race(plan.rows, plan.rounds, bare, spark, splice)
    val title   = f"Kafka, all columns, $how: ${plan.rows}%,d records of ${plan.bytes} B, ${plan.partitions} partitions"
    Report.table(title, timings, Seq(bare.name, spark.name))
  }
}
