// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import java.io.File
import java.util.zip.ZipFile

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._
import scala.util.Using

/** Classes of some jars, and of the current JDK. The first jar with a class has precedence, and the JDK is last. */
final class Jars(files: Seq[File]) extends AutoCloseable {
  private val open = files.map(new ZipFile(_))
  private val read = TrieMap.empty[String, Option[ClassFile]]

  val world: World = new World(name => read.getOrElseUpdate(name, bytes(name).map(ClassFile.read)))

  override def close(): Unit = open.foreach(_.close())

  private def bytes(name: String): Option[Array[Byte]] = {
    val path = s"$name.class"
    open.iterator
      .flatMap(jar =>
        Option(jar.getEntry(path)).map(entry => Using.resource(jar.getInputStream(entry))(_.readAllBytes()))
      )
      .nextOption()
      .orElse(
        Option(ClassLoader.getPlatformClassLoader.getResourceAsStream(path)).map(Using.resource(_)(_.readAllBytes()))
      )
  }
}

object Jars {

  /** Unparsed class files of a jar. */
  def classes(jar: File): Seq[Array[Byte]] = Using.resource(new ZipFile(jar)) { zip =>
    zip.entries().asScala.toSeq.collect {
      case entry if entry.getName.endsWith(".class") => Using.resource(zip.getInputStream(entry))(_.readAllBytes())
    }
  }

  def in(folder: File): Seq[File] =
    Option(folder.listFiles()).toSeq.flatten.filter(_.getName.endsWith(".jar")).sortBy(_.getName)
}
