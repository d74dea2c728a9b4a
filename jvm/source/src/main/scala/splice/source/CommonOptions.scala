// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** Options of every source. */
object CommonOptions {

  val Source: SourceOption[String] =
    SourceOption("source", OptionType.Text, "which source to read")

  val OnUnknown: SourceOption[OnUnknownOption] = SourceOption(
    "onUnknownOption",
    OptionType.choice[OnUnknownOption](
      "fail" -> splice.source.OnUnknownOption.Fail,
      "warn" -> splice.source.OnUnknownOption.Warn
    ),
    "what to do with an option that no part of the source knows"
  ).withDefault(splice.source.OnUnknownOption.Fail, "fail")

  val Slots: SourceOption[Int] = SourceOption(
    "slots",
    OptionType.PositiveInt,
    "number of tasks that share the splits of a log, such as Kafka partitions. By default the number of tasks that the available cores can run at a time, by spark.task.cpus: those at the start of the query, and later those that have been available for one minute. At most the number of splits"
  )

  val Assigner: SourceOption[SlotAssigner] = SourceOption(
    "assigner",
    OptionType.choice[SlotAssigner](SlotAssigner.all.map(a => a.word -> a): _*),
    "which slot reads which partition: hash spreads each topic from a place that its name says, roundRobin gives every slot as many partitions, balanced as many bytes and rows"
  ).withDefault(SlotAssigner.Balanced, SlotAssigner.Balanced.word)

  val SplitLargePartitions: SourceOption[Boolean] = SourceOption(
    "splitLargePartitions",
    OptionType.Bool,
    "whether a partition that has more than a slot's share of a batch is read by several slots at once; the order of its records is lost between tasks then"
  ).withDefault(false, "false")

  val MinPartitions: SourceOption[Int] = SourceOption(
    "minPartitions",
    OptionType.PositiveInt,
    "minimum number of tasks per batch. Splice cuts ranges of partitions if there are fewer; each task has at least one row. The option does not change the number of slots"
  )

  val MaxRecordsPerPartition: SourceOption[Long] = SourceOption(
    "maxRecordsPerPartition",
    OptionType.PositiveLong,
    "at most so many offsets a task, by cutting the ranges of partitions that have more"
  )

  val EndBatchOnChange: SourceOption[Boolean] = SourceOption(
    "endBatchOnChange",
    OptionType.Bool,
    "whether a batch in real-time mode ends early when the source has a new partition or topic, or new metadata, so that the next batch reads it. The executors must be able to read the checkpoint. If false, a change applies to the next batch"
  ).withDefault(true, "true")

  val CheckpointStoreOption: SourceOption[CheckpointStore] = SourceOption(
    "checkpointStore",
    OptionType.choice[CheckpointStore]("atomic" -> CheckpointStore.Atomic, "unsafe" -> CheckpointStore.Unsafe),
    "the storage that the checkpoint may be on: atomic accepts storage that creates a file only if it is absent (a local disk, HDFS, S3A with conditional writes); unsafe accepts any storage, where two drivers on one checkpoint can overwrite each other's entries"
  ).withDefault(CheckpointStore.Atomic, "atomic")

  /** What holds for a whole query, and not for a leg of it. */
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

/** What to do with options that are not known. */
sealed trait OnUnknownOption extends Product with Serializable

object OnUnknownOption {
  case object Fail extends OnUnknownOption
  case object Warn extends OnUnknownOption
}
