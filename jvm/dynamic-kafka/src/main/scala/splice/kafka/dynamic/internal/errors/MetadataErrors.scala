// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.errors

import splice.source.errors.SpliceException

/** Errors of documents and responses of metadata services. */
private[dynamic] object MetadataErrors {

  private val conditions = DynamicErrors.conditions

  private val ofMetadata = Set(
    "SPLICE_METADATA.AMBIGUOUS_CLUSTER_NAME",
    "SPLICE_METADATA.INVALID_DOCUMENT",
    "SPLICE_METADATA.INVALID_RESPONSE",
    "SPLICE_METADATA.VERSION_NOT_SUPPORTED"
  )

  /** Extracts the error of invalid metadata. A service that returns invalid metadata has responded. All other errors of
    * a request mean that the service failed.
    */
  object InvalidMetadata {
    def unapply(error: Throwable): Option[SpliceException] = error match {
      case e: SpliceException if ofMetadata(e.getCondition) => Some(e)
      case _                                                => None
    }
  }

  /** The document is not valid. */
  def invalid(document: String, line: Int, path: String, reason: String): SpliceException = conditions.error(
    "SPLICE_METADATA.INVALID_DOCUMENT",
    "document" -> document,
    "line"     -> line.toString,
    "path"     -> (if (path.isEmpty) "the document" else s"'${shortened(path)}'"),
    "reason"   -> shortened(reason)
  )

  /** A user's metadata service returned metadata that is not valid. */
  def invalidResponse(service: String, reason: String): SpliceException =
    conditions.error("SPLICE_METADATA.INVALID_RESPONSE", "service" -> service, "reason" -> reason)

  /** The constructor of a user's metadata service failed. */
  def notCreated(option: String, name: String, cause: Throwable): SpliceException = conditions.error(
    "SPLICE_METADATA.SERVICE_NOT_CREATED",
    cause,
    "option" -> option,
    "class"  -> name,
    "reason" -> cause.toString
  )

  // A name in a document may be as long as the document.
  private def shortened(text: String): String =
    if (text.length <= Longest) text else s"${text.take(Longest)}… (${text.length} characters)"

  private val Longest = 2000

  /** The document has the format of a later version of Splice. */
  def newer(document: String, version: Long, supported: Long): SpliceException = conditions.error(
    "SPLICE_METADATA.VERSION_NOT_SUPPORTED",
    "document"  -> document,
    "version"   -> version.toString,
    "supported" -> supported.toString
  )

  /** The service did not respond. */
  def unavailable(service: String, reason: String, cause: Option[Throwable] = None): SpliceException = {
    val parameters = Seq("service" -> service, "reason" -> reason)
    cause.fold(conditions.error("SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE", parameters: _*))(
      conditions.error("SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE", _, parameters: _*)
    )
  }

}
