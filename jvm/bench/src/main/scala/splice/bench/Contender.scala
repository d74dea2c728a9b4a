// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Somebody who does the same work as the others; `run` answers how many rows it has read, if that can be told. */
final case class Contender(name: String, run: () => Option[Long])

/** What one contender needed in each of its runs, in nanoseconds. */
final case class Timing(name: String, rows: Long, nanos: Seq[Long]) {

  def median: Long = Median(nanos)

  def rowsPerSecond: Double = rows / (median / 1e9)
}

/** Lets contenders run in turns, so that a slow minute of the machine meets them all. */
object Race {

  /** `warmUps` unmeasured runs each, then `rounds` measured ones each.
    *
    * @param warmUps
    *   more than one where one is not enough
    * @throws java.lang.IllegalStateException
    *   when one reads another number of rows than `rows`
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
    // Each round begins with another contender, since a run may pay for the garbage of the one before it.
    val laps = (0 until rounds).map { round =>
      val (first, last) = contenders.splitAt(round % contenders.size)
      (last ++ first).map(c => c.name -> once(c)).toMap
    }
    contenders.map(c => Timing(c.name, rows, laps.map(_(c.name))))
  }
}
