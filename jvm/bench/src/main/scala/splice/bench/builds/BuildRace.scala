// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import scala.util.Using

import splice.bench.race.PeerProcess
import splice.bench.{BenchPlan, KafkaLoad, TopicSpec}

/** Race of two builds that read one topic in turns. Each build has a separate JVM that stays warm. New JVMs replace
  * both JVMs several times.
  *
  * @param pairs
  *   number of pairs of measured runs per case
  * @param jvms
  *   number of pairs of JVMs; the runs are distributed over the pairs
  */
final private[builds] class BuildRace(builds: Turns[Build], servers: String, plan: BenchPlan, pairs: Int, jvms: Int) {

  private val topic = TopicSpec(plan.rows, plan.bytes, plan.partitions)
  private val cases = BuildRace.cases.filter { case (title, _) => plan.only.forall(title.contains) }

  def run(): String = {
    val load = new KafkaLoad(servers)
    println(s"filling ${topic.name}")
    load.fill(topic)
    try {
      val times = share(pairs, jvms).zipWithIndex.map { case (count, i) => withJvms(i, count) }
      PairedRatios.table(
        s"Two builds, Kafka: $topic; $pairs pairs of runs in ${times.size} pairs of JVMs",
        "s",
        cases.indices.map(i => PairedRatios(cases(i)._1, times.map(_(i))))
      )
    } finally load.delete(topic.name)
  }

  /** Returns the times of each case in one pair of JVMs. */
  private def withJvms(number: Int, pairs: Int): Seq[Seq[(Double, Double)]] = {
    println(s"JVMs ${number + 1}")
    Using.Manager { use =>
      val peers = Turns(use(peer(builds.base)), use(peer(builds.current)))
      cases.map { case (title, more) =>
        (0 until BuildRace.WarmUps).foreach(i => peers.pair(i)(read(_, more)))
        (0 until pairs).map { i =>
          val (base, current) = peers.pair(number + i)(read(_, more))
          println(f"  $title%-40s base $base%6.2f s, this $current%6.2f s, ${base / current}%.3f")
          (base, current)
        }
      }
    }.get
  }

  private def peer(build: Build) = new PeerProcess(
    build.name,
    build.command(BuildPeer.getClass.getName.stripSuffix("$")) :+ plan.cores.toString,
    ProcessBuilder.Redirect.INHERIT
  )

  private def read(peer: PeerProcess, more: Map[String, String]): Double = {
    val kafka = Map(
      "kafka.bootstrap.servers" -> servers,
      "subscribe"               -> topic.name,
      "startingOffsets"         -> "earliest"
    )
    val options          = more.get("legs").fold(kafka)(leg => kafka.map { case (k, v) => s"$leg.$k" -> v })
    val kind             = if (more.contains("maxOffsetsPerTrigger")) "stream" else "batch"
    val Seq(rows, nanos) =
      peer.read(
        (kind +: "splice" +: (options ++ more).map { case (k, v) => s"$k=$v" }.toSeq).mkString("\t")
      ): @unchecked
    if (rows != topic.rows) throw new IllegalStateException(s"$rows rows were read of ${topic.rows}")
    nanos / 1e9
  }

  private def share(pairs: Int, jvms: Int): Seq[Int] = (0 until jvms).map(i =>
    pairs / jvms + (if (i < pairs % jvms) 1 else 0)
  ).filter(_ > 0)
}

private object BuildRace {

  /** Number of unmeasured runs of each case in a JVM. */
  private val WarmUps = 4

  // A `select` that computes a column converts column batches to rows.
  private val cases = Seq(
    "columns: all columns"         -> Map("source" -> "kafka"),
    "columns: includeHeaders=true" -> Map("source" -> "kafka", "includeHeaders" -> "true"),
    "columns: valueFormat=string"  -> Map("source" -> "kafka", "valueFormat" -> "string"),
    "stream: batches of 500,000"   -> Map("source" -> "kafka", "maxOffsetsPerTrigger" -> "500000"),
    "rows: a computed select"      -> Map(
      "source"      -> "hybrid",
      "legs"        -> "live",
      "live.source" -> "kafka",
      "live.select" -> "key, value, topic, partition, offset + 1 AS offset, timestamp, timestampType"
    )
  )
}
