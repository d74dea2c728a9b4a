// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import scala.util.control.NonFatal

import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}

/** Asks a Python function for a [[MetadataDocument]]. */
final private[dynamic] class CallbackMetadataService(name: String, rules: DocumentProperties)
    extends KafkaMetadataService {

  @volatile private var inactive = Set.empty[String]

  override def allStreams(): StreamMetadata = {
    val callback = MetadataCallbacks.find(name).getOrElse(throw MetadataErrors.unavailable(
      toString,
      "it is not known to this driver. Run the program that builds the source"
    ))
    val text =
      try callback.document()
      catch { case NonFatal(e) => throw MetadataErrors.unavailable(toString, String.valueOf(e.getMessage), Some(e)) }
    val found = MetadataDocument.read(toString, text, rules)
    inactive = found.inactive
    found.metadata
  }

  override def isClusterActive(cluster: String): Boolean = !inactive(cluster)

  override def toString: String = s"the Python function $name"
}
