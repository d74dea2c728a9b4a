// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

/** The kinds of metadata services. */
sealed abstract private[dynamic] class MetadataKind(val word: String) extends Product with Serializable

private[dynamic] object MetadataKind {

  /** A document in a file ([[DocumentService]]). */
  case object File extends MetadataKind("file")

  /** A document behind an address ([[HttpMetadataService]]). */
  case object Http extends MetadataKind("http")

  /** The topics of one cluster ([[SingleClusterMetadataService]]). */
  case object SingleCluster extends MetadataKind("singleCluster")

  /** A function of the program that builds the source ([[DocumentService]]). */
  case object Python extends MetadataKind("python")

  /** A class of the user that implements [[splice.kafka.dynamic.KafkaMetadataService]]. */
  case object Class extends MetadataKind("class")

  /** An object of the program that builds the source, which implements the same. */
  case object Instance extends MetadataKind("instance")

  val all: Seq[MetadataKind] = Seq(File, Http, SingleCluster, Class, Instance, Python)
}
