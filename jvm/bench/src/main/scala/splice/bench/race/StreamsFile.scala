// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path}

/** Metadata file of one stream. Each write replaces the whole file. */
final class StreamsFile(folder: Path) {

  private val file       = folder.resolve("streams.yaml")
  private var generation = 0

  val stream = "bench"

  /** Options of a query that reads the stream. */
  def options: Map[String, String] = Map(
    "streams"           -> stream,
    "metadata.file"     -> file.toString,
    "discoveryInterval" -> "1s",
    "startingOffsets"   -> "earliest"
  )

  /** Maps the stream to a topic on clusters with the given bootstrap servers. */
  def write(topic: String, clusters: Seq[String]): Unit = {
    generation += 1
    val names = clusters.indices.map(i => s"c$i")
    val known = names.zip(clusters).map { case (name, servers) => s"  $name: {bootstrapServers: \"$servers\"}" }
    val lies  = names.map(name => s"$name: [$topic]").mkString(", ")
    val lines = Seq("version: 1", s"generation: $generation", "clusters:") ++ known ++
      Seq("streams:", s"  $stream: {$lies}")
    val next = Files.writeString(folder.resolve("streams.next"), lines.mkString("\n"))
    val _    = Files.move(next, file, ATOMIC_MOVE)
  }
}
