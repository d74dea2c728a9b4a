// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.util.regex.Pattern

import scala.collection.immutable.SortedSet

import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}

/** Which streams a query reads. */
sealed private[splice] trait StreamSelection extends Product with Serializable {

  /** Asks the service about them. */
  def of(service: KafkaMetadataService): StreamMetadata

  /** The option and its value in one canonical form. */
  def text: String
}

private[splice] object StreamSelection {

  /** The streams of these names. */
  final case class Names(names: SortedSet[String]) extends StreamSelection {
    override def of(service: KafkaMetadataService): StreamMetadata = service.describeStreams(names)
    override def text: String                                      = names.mkString("streams=", ",", "")
  }

  /** The streams whose name holds a match, also those that are made later. */
  final case class Matching(pattern: String) extends StreamSelection {
    @transient private lazy val compiled                           = Pattern.compile(pattern)
    override def of(service: KafkaMetadataService): StreamMetadata =
      service.allStreams().only(compiled.matcher(_).find)
    override def text: String = s"streamPattern=$pattern"
  }
}
