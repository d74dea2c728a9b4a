// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.broker

import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path}
import java.util.{Properties, UUID}

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.common.Uuid

/** Formats the storage of a node. The tool of Kafka formats one storage per build. Other nodes copy this storage with
  * their own ids.
  */
private[testkit] object FormattedStorage {

  private val Ids = "meta.properties"

  /** @param format
    *   runs the tool of Kafka
    */
  def create(data: Path, clusterId: String, node: Int)(format: => Unit): Unit = {
    val template = KeptFiles.path(digest => s"storage-$digest")
    template.filter(Files.exists(_)) match {
      case Some(formatted) =>
        copy(formatted, data)
        val ids = new Properties
        Using.resource(Files.newBufferedReader(data.resolve(Ids)))(in => ids.load(in))
        Seq("cluster.id" -> clusterId, "node.id" -> node.toString, "directory.id" -> newId())
          .foreach { case (key, value) => ids.setProperty(key, value) }
        Using.resource(Files.newBufferedWriter(data.resolve(Ids)))(ids.store(_, "one node"))
      case None =>
        format
        template.foreach(keep(data, _))
    }
  }

  // Another process may keep its storage at the same time.
  private def keep(data: Path, template: Path): Unit = {
    val fresh = template.resolveSibling(s"fresh-${UUID.randomUUID()}")
    copy(data, fresh)
    if (Try(Files.move(fresh, template, ATOMIC_MOVE)).isFailure) {
      files(fresh).foreach(Files.delete(_))
      Files.delete(fresh)
    }
  }

  private def copy(from: Path, to: Path): Unit = {
    Files.createDirectories(to)
    files(from).foreach(file => Files.copy(file, to.resolve(file.getFileName)))
  }

  private def files(folder: Path): Seq[Path] =
    Using.resource(Files.list(folder))(_.iterator.asScala.filter(Files.isRegularFile(_)).toSeq)

  /** Random id without a leading '-', which tools parse as an option. */
  def newId(): String = Iterator.continually(Uuid.randomUuid().toString).find(!_.startsWith("-")).mkString
}
