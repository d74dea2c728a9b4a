// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Contender of a race. All contenders have identical work. `run` returns the number of rows, if available. */
final case class Contender(name: String, run: () => Option[Long])

/** Times of the runs of one contender, in nanoseconds. */
final case class Timing(name: String, rows: Long, nanos: Seq[Long]) {

  def median: Long = Median(nanos)

  def rowsPerSecond: Double = rows / (median / 1e9)
}

/** Runs contenders in turns, so that a slow phase of the machine affects all contenders. */
object Race {

  /** Runs each contender `warmUps` times without measurement, then `rounds` times with measurement.
    *
    * @param warmUps
    *   number of unmeasured runs per contender
    * @throws java.lang.IllegalStateException
    *   if a contender reads another number of rows than `rows`
    */
  def apply(rows: Long, rounds: Int, contenders: Seq[Contender], warmUps: Int = 1): Seq[Timing] = {
    def once(c: Contender): Long = {
      val begin = System.nanoTime()
      val read  = c.run()
      val nanos = System.nanoTime() - begin
      read.filter(_ != rows).foreach(n => throw new IllegalStateException(s"${c.name} read $n rows of $rows"))
      println(f"  ${c.name}%-40s ${nanos / 1e9}%7.2f s  ${rows / (nanos / 1e9)}%,13.0f rows/s")
      nanos
    }
    (1 to warmUps).foreach(_ => contenders.foreach(once))
    // Each round begins with another contender, because a run may include the garbage collection of the previous run.
    val laps = (0 until rounds).map { round =>
      val (first, last) = contenders.splitAt(round % contenders.size)
      (last ++ first).map(c => c.name -> once(c)).toMap
    }
    contenders.map(c => Timing(c.name, rows, laps.map(_(c.name))))
  }
}
