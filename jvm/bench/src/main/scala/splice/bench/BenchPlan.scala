// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Size of a benchmark. An environment variable with the upper-case name sets each value.
  *
  * @param files
  *   number of files of the case `watch`
  * @param cases
  *   comma-separated list of cases: `kafka`, `matrix`, `steady`, `memory`, `clusters`, `away`, `late`, `files`,
  *   `watch`, `tables`, `handover`, `driver`, `plan`, `realtime`; None = all
  * @param only
  *   text that the title of a Kafka race or of a real-time comparison must contain; None = all
  */
final case class BenchPlan(
    rows: Long,
    bytes: Int,
    partitions: Int,
    rounds: Int,
    cores: Int,
    files: Int,
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
      files = number("FILES", 1000000L).toInt,
      cases = sys.env.get("CASES").map(_.split(",").toSet),
      only = sys.env.get("ONLY")
    )
  }
}
