// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import java.io.IOException

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.source.Secrets

/** Reads a [[MetadataDocument]] from a file on any file system that Hadoop reaches.
  *
  * Whoever changes the file writes another and renames it over this one, as a mounted ConfigMap does: then no reader sees half of it.
  */
final private[dynamic] class FileMetadataService(file: Path, configuration: Configuration, rules: DocumentProperties)
    extends KafkaMetadataService {

  private lazy val fs            = file.getFileSystem(configuration)
  @volatile private var inactive = Set.empty[String]

  override def allStreams(): StreamMetadata = {
    val text =
      try Using.resource(fs.open(file))(MetadataText.read(shown, _))
      catch { case e: IOException => throw MetadataErrors.unavailable(toString, e.toString, Some(e)) }
    val found = MetadataDocument.read(shown, text, rules)
    inactive = found.inactive
    found.metadata
  }

  override def isClusterActive(cluster: String): Boolean = !inactive(cluster)

  override def toString: String = s"the file $shown"

  private def shown: String = Secrets.redact("metadata.file", file.toString)
}
