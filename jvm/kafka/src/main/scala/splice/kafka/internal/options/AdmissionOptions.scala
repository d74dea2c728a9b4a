// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.Duration

import splice.source.options.{OptionType, SourceOption}

/** The options that limit a batch and divide the batch among partitions. */
private[splice] object AdmissionOptions {

  val Admission: SourceOption[AdmissionPolicy] = SourceOption(
    "admission",
    OptionType.choice[AdmissionPolicy](AdmissionPolicy.all.map(p => p.word -> p): _*),
    "Policy that sets the shares of partitions in a batch that cannot hold all available rows. 'lag' sets " +
      "each share in proportion to the backlog of the partition. 'equal' sets the same share for every " +
      "partition. 'eventTime' ends the batch at one timestamp in all partitions, so that a backfill makes no row " +
      "late for a watermark on the column timestamp."
  ).withDefault(AdmissionPolicy.Lag, AdmissionPolicy.Lag.word)

  val MaxAhead: SourceOption[Duration] = SourceOption(
    "maxAhead",
    OptionType.Time,
    "Greatest distance of a timestamp from the clock of the driver with 'admission=eventTime'. 'onFutureTime' " +
      "applies to later records."
  ).withDefault(Duration.ofMinutes(1), "1m")

  val FutureTime: SourceOption[OnFutureTime] = SourceOption(
    "onFutureTime",
    OptionType.choice[OnFutureTime](OnFutureTime.all.map(p => p.word -> p): _*),
    "Policy for a record that is later than now plus 'maxAhead' with 'admission=eventTime'. 'fail' throws an error. " +
      "'hold' reads the partition up to this record, and continues when the time has come; a source with an end " +
      "treats 'hold' as 'fail'. 'read' reads the partition without regard to its times from this record on."
  ).withDefault(OnFutureTime.Hold, OnFutureTime.Hold.word)

  val MaxBytes: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "Approximate maximum number of bytes of keys and values per batch. Splice estimates the bytes from the " +
      "average record size of each topic in the current run of the query. A batch has at least one row."
  )

  val all: Seq[SourceOption[_]] = Seq(Admission, MaxBytes, MaxAhead, FutureTime)
}

/** The policy that shares a batch among partitions if the backlog exceeds the limits of the batch. */
sealed abstract private[splice] class AdmissionPolicy(val word: String) extends Product with Serializable

private[splice] object AdmissionPolicy {

  /** Shares in proportion to the backlogs of partitions, as in Spark's Kafka source. */
  case object Lag extends AdmissionPolicy("lag")

  /** The same number of rows for every partition. Partitions with a larger backlog get the rows that other partitions
    * do not need.
    */
  case object Equal extends AdmissionPolicy("equal")

  /** Each partition up to its first record at or after one time. Records of one time are shared as by [[Lag]]. */
  case object EventTime extends AdmissionPolicy("eventTime")

  val all: Seq[AdmissionPolicy] = Seq(Lag, Equal, EventTime)
}

/** How a batch that ends at one time treats rows of the future. */
final private[splice] case class EventTimeSettings(maxAhead: Duration, onFutureTime: OnFutureTime)

/** The policy for a row that is later than now plus `maxAhead`. */
sealed abstract private[splice] class OnFutureTime(val word: String) extends Product with Serializable

private[splice] object OnFutureTime {
  case object Fail extends OnFutureTime("fail")
  case object Hold extends OnFutureTime("hold")
  case object Read extends OnFutureTime("read")

  val all: Seq[OnFutureTime] = Seq(Fail, Hold, Read)
}
