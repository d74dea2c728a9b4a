// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import splice.kafka.internal.admission.AdmissionPolicy
import splice.source.options.{OptionType, SourceOption}

/** The options that limit a batch and divide the batch among partitions. */
private[splice] object AdmissionOptions {

  val Admission: SourceOption[AdmissionPolicy] = SourceOption(
    "admission",
    OptionType.choice[AdmissionPolicy](AdmissionPolicy.all.map(p => p.word -> p): _*),
    "Policy that sets the shares of partitions in a batch that cannot hold all available rows. 'lag' sets " +
      "each share in proportion to the backlog of the partition. 'equal' sets the same share for every " +
      "partition."
  ).withDefault(AdmissionPolicy.Lag, AdmissionPolicy.Lag.word)

  val MaxBytes: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "Approximate maximum number of bytes of keys and values per batch. Splice estimates the bytes from the " +
      "average record size of each topic in the current run of the query. A batch has at least one row."
  )

  val all: Seq[SourceOption[_]] = Seq(Admission, MaxBytes)
}
