// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import splice.source.internal.entries.CheckpointStore

/** Options of every source. */
object CommonOptions {

  val Source: SourceOption[String] =
    SourceOption("source", OptionType.Text, "Source to read.")

  val OnUnknown: SourceOption[OnUnknownOption] = SourceOption(
    "onUnknownOption",
    OptionType.choice[OnUnknownOption](
      "fail" -> splice.source.options.OnUnknownOption.Fail,
      "warn" -> splice.source.options.OnUnknownOption.Warn
    ),
    "Policy for an option that no part of the source defines."
  ).withDefault(splice.source.options.OnUnknownOption.Fail, "fail")

  val Slots: SourceOption[Int] = SourceOption(
    "slots",
    OptionType.PositiveInt,
    "Number of tasks that share the splits of a log, such as Kafka partitions, at most the number of " +
      "splits. Default: the number of tasks that the available cores can run at the same time " +
      "(spark.task.cpus), counted at the start of the query and again when the number has been stable for " +
      "one minute."
  )

  val Assigner: SourceOption[SlotAssigner] = SourceOption(
    "assigner",
    OptionType.choice[SlotAssigner](SlotAssigner.all.map(a => a.word -> a): _*),
    "Assignment of partitions to slots. hash spreads the partitions of each topic from a slot that the " +
      "topic name determines. roundRobin gives every slot the same number of partitions. balanced gives " +
      "every slot the same number of bytes and rows."
  ).withDefault(SlotAssigner.Balanced, SlotAssigner.Balanced.word)

  val SplitLargePartitions: SourceOption[Boolean] = SourceOption(
    "splitLargePartitions",
    OptionType.Bool,
    "If true, several slots read a partition that has more than one slot's share of a batch. Records of " +
      "the partition then have no order between tasks."
  ).withDefault(false, "false")

  val MinPartitions: SourceOption[Int] = SourceOption(
    "minPartitions",
    OptionType.PositiveInt,
    "Minimum number of tasks per batch. Splice cuts the ranges of partitions if there are fewer. Each " +
      "task has at least one row. The option does not change the number of slots."
  )

  val MaxRecordsPerPartition: SourceOption[Long] = SourceOption(
    "maxRecordsPerPartition",
    OptionType.PositiveLong,
    "Maximum number of offsets per task. Splice cuts the ranges of larger partitions."
  )

  val EndBatchOnChange: SourceOption[Boolean] = SourceOption(
    "endBatchOnChange",
    OptionType.Bool,
    "If true, a batch in real-time mode ends early when the source has a new partition, a new topic or " +
      "new metadata, and the next batch reads it. The executors must be able to read the checkpoint. If " +
      "false, a change applies to the next batch."
  ).withDefault(true, "true")

  val CheckpointStoreOption: SourceOption[CheckpointStore] = SourceOption(
    "checkpointStore",
    OptionType.choice[CheckpointStore]("atomic" -> CheckpointStore.Atomic, "unsafe" -> CheckpointStore.Unsafe),
    "Storage that the checkpoint may use. atomic requires storage that creates a file only if it is " +
      "absent: a local disk, HDFS, S3A with conditional writes. unsafe accepts any storage; two drivers on " +
      "one checkpoint can then overwrite each other's entries."
  ).withDefault(CheckpointStore.Atomic, "atomic")

  /** Options that apply to a whole query, and cannot be set for a single leg. */
  val ofQuery: Seq[SourceOption[_]] =
    Seq(
      Slots,
      Assigner,
      SplitLargePartitions,
      MinPartitions,
      MaxRecordsPerPartition,
      EndBatchOnChange,
      CheckpointStoreOption
    )

  val set: OptionSet = OptionSet("Every source", Seq(Source, OnUnknown) ++ ofQuery)
}

/** Policy for unknown options. */
sealed trait OnUnknownOption extends Product with Serializable

object OnUnknownOption {
  case object Fail extends OnUnknownOption
  case object Warn extends OnUnknownOption
}
