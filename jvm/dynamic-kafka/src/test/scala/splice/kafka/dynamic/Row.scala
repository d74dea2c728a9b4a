// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

/** Row that was read. */
final private[dynamic] case class Row(
    cluster: String,
    stream: String,
    topic: String,
    partition: Int,
    offset: Long,
    value: String
)
