// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.cluster.BackgroundPoller
import splice.source.errors.{SpliceError, SpliceException}

/** Sends the request to services in order and returns the first valid response.
  *
  * Each document needs a generation. Otherwise Splice could apply an older document of the next service during an
  * outage of the previous service.
  */
final private[dynamic] class FallbackMetadataService(services: Seq[KafkaMetadataService]) extends KafkaMetadataService {

  import FallbackMetadataService._

  override def allStreams(): StreamMetadata =
    first(services.toList, Nil)(s => counted(s, s.allStreams()))

  override def describeStreams(names: Set[String]): StreamMetadata =
    first(services.toList, Nil)(s => counted(s, s.describeStreams(names)))

  override def close(): Unit = services.foreach { service =>
    try service.close()
    catch { case NonFatal(e) => logger.warn(s"Could not close $service", e) }
  }

  override def toString: String = services.mkString(", then ")

  @tailrec private def first(left: List[KafkaMetadataService], failures: List[Throwable])(
      request: KafkaMetadataService => StreamMetadata
  ): StreamMetadata = left match {
    case Nil             => throw failed(failures.reverse)
    case service :: more =>
      attempt(service)(request) match {
        case Right(response) => response
        case Left(failure)   =>
          if (more.nonEmpty) logger.warn(s"Calling ${more.head} instead of $service: ${SpliceError.text(failure)}")
          first(more, failure :: failures)(request)
      }
  }

  // A service that returns invalid metadata has responded.
  private def failed(failures: Seq[Throwable]): SpliceException =
    failures.collectFirst { case MetadataErrors.InvalidMetadata(error) => error } match {
      case Some(invalid) =>
        // Splice has logged all failures except the last failure.
        failures.lastOption.filterNot(_ eq invalid).foreach { last =>
          logger.warn(s"No other metadata service returned valid metadata: ${SpliceError.text(last)}")
        }
        invalid
      case None => MetadataErrors.noneResponds(failures)
    }

  private def attempt[A](service: KafkaMetadataService)(request: KafkaMetadataService => A): Either[Throwable, A] =
    try Right(request(service))
    catch { case BackgroundPoller.Failure(e) => Left(e) }

  private def counted(service: KafkaMetadataService, metadata: StreamMetadata): StreamMetadata = service match {
    case _: SingleClusterMetadataService   => metadata
    case _ if metadata.generation.nonEmpty => metadata
    case _                                 => throw MetadataErrors.invalidResponse(
        service.toString,
        "the document has no 'generation'. Add a generation, or set one metadata service only: with several services " +
          "Splice needs the generation to reject a document that is older than the document of another service"
      )
  }
}

private[dynamic] object FallbackMetadataService {
  private val logger = LoggerFactory.getLogger(classOf[FallbackMetadataService])
}
