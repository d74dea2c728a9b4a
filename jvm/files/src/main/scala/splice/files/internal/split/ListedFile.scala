// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.spark.sql.catalyst.InternalRow

/** A file as it was when it was listed.
  *
  * @param path
  *   encoded as a URI
  * @param modified
  *   milliseconds since the epoch
  * @param splittable
  *   whether tasks can read parts of it
  * @param values
  *   of the partition columns
  * @param homes
  *   where its parts are, for a file system that tells; empty for local files and object stores
  */
final private[splice] case class ListedFile(
    path: String,
    size: Long,
    modified: Long,
    splittable: Boolean,
    values: InternalRow,
    homes: Seq[BlockHome] = Nil
)

/** Hosts that hold a part of a file. */
final private[splice] case class BlockHome(start: Long, length: Long, hosts: Seq[String])
