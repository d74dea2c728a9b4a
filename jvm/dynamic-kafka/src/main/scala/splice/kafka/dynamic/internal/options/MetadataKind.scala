// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

/** Kinds of metadata services. */
sealed abstract private[dynamic] class MetadataKind(val word: String) extends Product with Serializable

private[dynamic] object MetadataKind {

  /** Document in a file ([[DocumentService]]). */
  case object File extends MetadataKind("file")

  /** Document at an HTTP or HTTPS address ([[HttpMetadataService]]). */
  case object Http extends MetadataKind("http")

  /** Topics of one cluster ([[SingleClusterMetadataService]]). */
  case object SingleCluster extends MetadataKind("singleCluster")

  /** Function of the Python program that builds the source ([[DocumentService]]). */
  case object Python extends MetadataKind("python")

  /** Class of the user that implements [[splice.kafka.dynamic.KafkaMetadataService]]. */
  case object Class extends MetadataKind("class")

  /** Object that implements [[splice.kafka.dynamic.KafkaMetadataService]], in the program that builds the source. */
  case object Instance extends MetadataKind("instance")

  val all: Seq[MetadataKind] = Seq(File, Http, SingleCluster, Class, Instance, Python)
}
