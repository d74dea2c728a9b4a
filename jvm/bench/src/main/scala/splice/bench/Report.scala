// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Results in Markdown. */
object Report {

  /** Table of a benchmark, with ratios to each compared reader in `against`. */
  def table(title: String, timings: Seq[Timing], against: Seq[String]): String = {
    val bases = against.flatMap(name => timings.find(_.name == name))
    val head  = Seq("source", "median s", "minimum–maximum s", "rows/s") ++ bases.map(b => s"÷ ${b.name}")
    val rows  = timings.map { t =>
      val range = f"${t.nanos.min / 1e9}%.2f–${t.nanos.max / 1e9}%.2f"
      Seq(t.name, f"${t.median / 1e9}%.2f", range, f"${t.rowsPerSecond}%,.0f") ++
        bases.map(b => f"${t.rowsPerSecond / b.rowsPerSecond}%.2f")
    }
    (s"### $title" +: "" +: lines(head, rows)).mkString("\n")
  }

  def lines(head: Seq[String], rows: Seq[Seq[String]]): Seq[String] = {
    def line(cells: Seq[String]) = cells.mkString("| ", " | ", " |")
    line(head) +: line(head.map(_ => "---")) +: rows.map(line)
  }
}
