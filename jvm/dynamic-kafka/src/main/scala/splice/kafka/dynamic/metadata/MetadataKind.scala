// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

/** The metadata services that come with Splice. */
sealed abstract private[dynamic] class MetadataKind(val word: String) extends Product with Serializable

private[dynamic] object MetadataKind {

  /** A document in a file ([[FileMetadataService]]). */
  case object File extends MetadataKind("file")

  /** A document behind an address ([[HttpMetadataService]]). */
  case object Http extends MetadataKind("http")

  /** The topics of one cluster ([[SingleClusterMetadataService]]). */
  case object SingleCluster extends MetadataKind("single-cluster")

  /** A function of the program that builds the source ([[CallbackMetadataService]]). */
  case object Python extends MetadataKind("python")

  val all: Seq[MetadataKind] = Seq(File, Http, SingleCluster, Python)
}
