// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.source.errors.SpliceException

/** Text of a [[MetadataDocument]], read from a file or an endpoint. */
private[dynamic] object MetadataText {

  /** Maximum number of bytes of a document: enough for 40,000 streams. */
  val Longest: Int = 8 * 1024 * 1024

  /** Reads the whole text as UTF-8.
    *
    * @param document
    *   the name of the document in errors
    * @throws splice.source.errors.SpliceException
    *   if the text is longer than [[Longest]]; the remaining bytes are then not read
    */
  def read(document: String, in: InputStream): String = {
    val bytes = in.readNBytes(Longest + 1)
    if (bytes.length > Longest) throw tooLong(document)
    new String(bytes, UTF_8)
  }

  def tooLong(document: String): SpliceException =
    MetadataErrors.invalid(
      document,
      1,
      "",
      s"the document is longer than ${Longest / 1024 / 1024} MiB. Remove unused streams, or split the streams between two queries"
    )
}
