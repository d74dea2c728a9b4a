// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** How large a bench is; each value can be set by an environment variable of its name in capitals.
  *
  * @param cases
  *   which of `kafka`, `matrix`, `steady`, `memory`, `clusters`, `away`, `files`, `handover`, `driver`, `plan`, `realtime` to run, divided by commas; None = all
  * @param only
  *   what the title of a race over Kafka must hold; None = all races
  */
final case class BenchPlan(
    rows: Long,
    bytes: Int,
    partitions: Int,
    rounds: Int,
    cores: Int,
    cases: Option[Set[String]],
    only: Option[String]
)

object BenchPlan {

  def fromEnvironment(): BenchPlan = {
    def number(name: String, otherwise: Long): Long = sys.env.get(name).map(_.toLong).getOrElse(otherwise)
    BenchPlan(
      rows = number("ROWS", 10000000L),
      bytes = number("BYTES", 100L).toInt,
      partitions = number("PARTITIONS", 8L).toInt,
      rounds = number("ROUNDS", 3L).toInt,
      cores = number("CORES", Runtime.getRuntime.availableProcessors.toLong).toInt,
      cases = sys.env.get("CASES").map(_.split(",").toSet),
      only = sys.env.get("ONLY")
    )
  }
}
