// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import splice.source.internal.entries.CheckpointStore

/** Options of every source. */
object CommonOptions {

  val Source: SourceOption[String] =
    SourceOption(
      "source",
      OptionType.Text,
      "Name of the source that the query reads. Splice writes no data: write with a format of Spark, such as 'kafka' or 'parquet'."
    )

  val OnUnknown: SourceOption[FailOrWarn] = SourceOption(
    "onUnknownOption",
    FailOrWarn.option,
    "Policy for an option that no part of the source defines. 'fail' rejects the option with an error. " +
      "'warn' logs a warning and ignores the option."
  ).withDefault(FailOrWarn.Fail, "fail")

  val Slots: SourceOption[Int] = SourceOption(
    "slots",
    OptionType.PositiveInt,
    "Number of tasks that share the splits of a log, such as Kafka partitions. The number of tasks is at " +
      "most the number of splits. Default: the number of tasks that the available cores can run at the same " +
      "time, according to 'spark.task.cpus'. Splice counts the available cores at the start of the query. A " +
      "different number of cores applies after the number has been stable for one minute."
  )

  val Assigner: SourceOption[SlotAssigner] = SourceOption(
    "assigner",
    OptionType.choice[SlotAssigner](SlotAssigner.all.map(a => a.word -> a): _*),
    "Strategy that assigns partitions to slots. 'hash' assigns the partitions of each topic to consecutive " +
      "slots. The topic name determines the first of these slots. 'roundRobin' distributes the partitions " +
      "evenly over the slots. 'balanced' distributes bytes and rows evenly over the slots."
  ).withDefault(SlotAssigner.Balanced, SlotAssigner.Balanced.word)

  val SplitLargePartitions: SourceOption[Boolean] = SourceOption(
    "splitLargePartitions",
    OptionType.Bool,
    "If 'true', several slots read a partition that has more rows than one slot's share of a batch. The " +
      "records of such a partition then have no order between tasks."
  ).withDefault(false, "false")

  val MinPartitions: SourceOption[Int] = SourceOption(
    "minPartitions",
    OptionType.PositiveInt,
    "Minimum number of tasks per batch. Splice splits the ranges of partitions if a batch has fewer tasks. " +
      "Each task has at least one row. This option does not change the number of slots."
  )

  val MaxRecordsPerPartition: SourceOption[Long] = SourceOption(
    "maxRecordsPerPartition",
    OptionType.PositiveLong,
    "Maximum number of offsets per task. Splice splits the range of a partition that has more offsets."
  )

  val EndBatchOnChange: SourceOption[Boolean] = SourceOption(
    "endBatchOnChange",
    OptionType.Bool,
    "If 'true', a batch in real-time mode ends early when the source has a new partition, a new topic or new " +
      "metadata. The next batch then applies this change. The value 'true' requires that the executors can " +
      "read the checkpoint. If 'false', the batch does not end early, and a change applies to the next batch."
  ).withDefault(true, "true")

  val CheckpointStoreOption: SourceOption[CheckpointStore] = SourceOption(
    "checkpointStore",
    OptionType.choice[CheckpointStore]("atomic" -> CheckpointStore.Atomic, "unsafe" -> CheckpointStore.Unsafe),
    "Type of storage that the checkpoint may use. 'atomic' requires storage that creates a file only if the " +
      "file is absent. Examples are a local disk, HDFS, and S3A with conditional writes. 'unsafe' accepts " +
      "any storage. With 'unsafe', two drivers on the same checkpoint can overwrite each other's entries."
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
