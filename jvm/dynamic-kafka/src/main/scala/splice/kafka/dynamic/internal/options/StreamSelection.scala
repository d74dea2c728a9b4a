// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.util.regex.Pattern

import scala.collection.immutable.SortedSet

import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}

/** Selection of the streams that a query reads. */
sealed private[splice] trait StreamSelection extends Product with Serializable {

  /** Requests the selected streams from a service. */
  def of(service: KafkaMetadataService): StreamMetadata

  /** Returns the option and its value in a canonical form. */
  def text: String
}

private[splice] object StreamSelection {

  /** Streams with these names. */
  final case class Names(names: SortedSet[String]) extends StreamSelection {
    override def of(service: KafkaMetadataService): StreamMetadata = service.describeStreams(names)
    override def text: String                                      = names.mkString("streams=", ",", "")
  }

  /** Streams whose name contains a match, including streams that are added later. */
  final case class Matching(pattern: String) extends StreamSelection {
    @transient private lazy val compiled                           = Pattern.compile(pattern)
    override def of(service: KafkaMetadataService): StreamMetadata =
      service.allStreams().only(compiled.matcher(_).find)
    override def text: String = s"streamPattern=$pattern"
  }
}
