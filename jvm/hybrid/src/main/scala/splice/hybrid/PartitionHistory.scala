// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{LogPartition, OffsetSummary}

/** The offsets of one log partition that several legs hold together.
  *
  * @param parts
  *   what each of the legs holds, in the order of the chain; never empty
  */
final private[splice] case class PartitionHistory(partition: LogPartition, parts: Seq[(Leg, OffsetSummary)]) {

  import PartitionHistory._

  private def summaries: Seq[OffsetSummary] = parts.map(_._2)

  /** One past the greatest offset. */
  def next: Long = summaries.map(_.last).max + 1

  /** The least offset. */
  def first: Long = summaries.map(_.first).min

  /** The least offset, if it is an archived one. The start of a log is the choice of its options. */
  def archived: Option[Long] = Option.unless(parts.minBy(_._2.first)._1.source.readsLog)(first)

  /** Ranges that no leg holds between [[first]] and [[next]]; only the first ones, if a leg has very many. */
  def holes: Seq[(Long, Long)] = {
    val all = union(summaries.flatMap(ranges))
    all.zip(all.drop(1)).collect { case ((_, end), (begin, _)) if end < begin => end -> begin }
  }

  /** How many offsets no leg holds between [[first]] and [[next]]. */
  def missing: Long = math.max(size(holes), next - first - summaries.map(_.count).sum)

  /** What is there more than once, in words. */
  def duplicates: Seq[String] = {
    val within = parts.collect {
      case (leg, held) if held.rows > held.count =>
        s"$partition has ${held.rows} rows of ${held.count} offsets in '${leg.name}' (${shown(held.repeated)} several times)"
    }
    val between = parts.combinations(2).toSeq.collect { case Seq((a, one), (b, other)) =>
      val both = for {
        (from, until) <- ranges(one)
        (begin, end)  <- ranges(other)
        if math.max(from, begin) < math.min(until, end)
      } yield math.max(from, begin) -> math.min(until, end)
      val most = if (isWhole(one) && isWhole(other)) "" else "up to "
      Option.when(both.nonEmpty)(
        s"$partition has $most${size(both)} offsets in both '${a.name}' and '${b.name}' (${shown(both)})"
      )
    }
    within ++ between.flatten
  }

  /** The missing offsets in words. */
  def lacks: String = s"$partition lacks $missing (${shown(holes)})"

  /** One line of proof for a decision. */
  def proof: String = {
    val legs = if (parts.size == 1) "" else parts.map(_._1.name).mkString(" legs=", ",", "")
    s"$partition first=$first last=${next - 1} count=${summaries.map(_.count).sum} rows=${summaries.map(_.rows).sum}$legs"
  }
}

private[splice] object PartitionHistory {

  private type Ranges = Seq[(Long, Long)]

  private val Shown = 5

  /** What legs hold together, by partition. */
  def of(legs: Seq[LegOffsets]): Seq[PartitionHistory] = {
    val parts = for {
      one  <- legs
      held <- one.held
    } yield one.leg -> held
    parts.groupBy(_._2.partition).toSeq.sortBy(_._1).map { case (p, own) => PartitionHistory(p, own) }
  }

  /** Ranges that a summary holds; empty ones count too, since a log was read up to there. Holes that it does not name count as held. */
  private def ranges(held: OffsetSummary): Ranges = (held.first +: held.holes.map(_._2)).zip(held.holes.map(_._1) :+
    (held.last + 1))

  private def isWhole(held: OffsetSummary): Boolean = size(held.holes) == held.missing

  private def size(ranges: Ranges): Long = ranges.map { case (from, until) => until - from }.sum

  private def union(ranges: Ranges): Ranges = ranges.sorted.foldLeft(List.empty[(Long, Long)]) {
    case ((from, until) :: before, (begin, end)) if begin <= until => (from -> math.max(until, end)) :: before
    case (before, range)                                           => range :: before
  }.reverse

  private def shown(ranges: Ranges): String = {
    val first = ranges.take(Shown).map { case (from, until) => s"$from to ${until - 1}" }
    (first ++ Option.when(ranges.size > Shown)("...")).mkString(", ")
  }
}
