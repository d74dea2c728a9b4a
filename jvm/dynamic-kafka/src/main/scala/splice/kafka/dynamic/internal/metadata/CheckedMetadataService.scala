// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import scala.util.control.NonFatal

import splice.kafka.dynamic.internal.document.{DocumentProperties, MetadataCheck, MetadataProblem}
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.source.errors.SpliceException

/** Checks the metadata of a user's service by the rules for documents ([[MetadataCheck]]).
  *
  * @param name
  *   the name of the service in errors
  * @param rules
  *   decides which client properties the service may set
  * @param closes
  *   true if Splice created the service, and so must close it
  * @param make
  *   creates or finds the service; called before the first request, on the thread of the requests
  */
final private[dynamic] class CheckedMetadataService(name: String, rules: DocumentProperties, closes: Boolean)(
    make: () => KafkaMetadataService
) extends KafkaMetadataService {

  private var created = Option.empty[KafkaMetadataService]

  override def allStreams(): StreamMetadata = checked(_.allStreams())

  override def describeStreams(names: Set[String]): StreamMetadata = checked(_.describeStreams(names).only(names))

  override private[dynamic] def isUnlistedActive(cluster: String): Option[Boolean] =
    request(_.isUnlistedActive(cluster))

  // If the service does not respond, another thread closes it.
  override def close(): Unit = if (closes) synchronized(created).foreach(_.close())

  override def toString: String = name

  private def checked(response: KafkaMetadataService => StreamMetadata): StreamMetadata = {
    val metadata = request(response)
    new MetadataCheck(rules).problem(metadata).foreach { case MetadataProblem(path, reason) =>
      throw invalid(s"'${path.mkString(".")}' is invalid: $reason")
    }
    metadata
  }

  private def request[A](response: KafkaMetadataService => A): A = {
    val service = synchronized {
      created = created.orElse(Some(make()))
      created
    }
    try service.flatMap(delegate => Option(response(delegate))).getOrElse(throw invalid("the service returned null"))
    catch {
      case e: SpliceException => throw e
      case NonFatal(e)        => throw MetadataErrors.unavailable(name, e.toString, Some(e))
    }
  }

  private def invalid(reason: String): SpliceException = MetadataErrors.invalidResponse(name, reason)
}
