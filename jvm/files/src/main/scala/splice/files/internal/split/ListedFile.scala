// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.spark.sql.catalyst.InternalRow

/** State of a file at the listing.
  *
  * @param path
  *   path as an encoded URI
  * @param modified
  *   modification time in milliseconds since the epoch
  * @param splittable
  *   true if tasks can read parts of the file
  * @param values
  *   values of the partition columns
  * @param homes
  *   block locations; empty for local files and object stores
  */
final private[splice] case class ListedFile(
    path: String,
    size: Long,
    modified: Long,
    splittable: Boolean,
    values: InternalRow,
    homes: Seq[BlockHome] = Nil
)

/** Hosts that store a part of a file. */
final private[splice] case class BlockHome(start: Long, length: Long, hosts: Seq[String])
