// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.io.File
import java.net.URLClassLoader
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

/** Whether readers can take batches from the version of Kafka's client that is there. */
final class PassedBatchesSuite extends AnyFunSuite {

  private val server = Path.of(sys.props("splice.kafka.server"))

  /** The text of what is missing where another jar stands in for Kafka's client. */
  private def missing(client: Path): String = {
    val path = sys.props("java.class.path").split(File.pathSeparator).toSeq.map(Path.of(_))
    val rest = path.filterNot(_.getFileName.toString.startsWith("kafka-clients-"))
    Using.resource(
      new URLClassLoader((client +: rest).map(_.toUri.toURL).toArray, ClassLoader.getPlatformClassLoader)
    ) { loader =>
      val batches = loader.loadClass("splice.kafka.reader.PassedBatches$")
      batches.getMethod("missing").invoke(batches.getField("MODULE$").get(batches)).toString
    }
  }

  private def jar(name: String): Path = Using.resource(Files.list(server)) { files =>
    files.iterator.asScala.find(_.getFileName.toString.startsWith(name)).getOrElse(fail(s"no $name"))
  }

  test("the versions of this build and of its Kafka server have what is needed") {
    assert(PassedBatches.missing.isEmpty)
    assert(missing(jar("kafka-clients-4")) == "None")
  }

  test("a version without a class of the consumer lacks it by name") {
    val reduced = Files.createTempFile("kafka-clients-reduced", ".jar")
    try {
      reduce(jar("kafka-clients-4"), reduced)(_.contains("ConsumerNetworkClient"))
      assert(missing(reduced).contains("ConsumerNetworkClient"))
    } finally Files.delete(reduced)
  }

  private def reduce(from: Path, to: Path)(without: String => Boolean): Unit =
    Using.Manager { use =>
      val in  = use(new java.util.zip.ZipInputStream(Files.newInputStream(from)))
      val out = use(new java.util.zip.ZipOutputStream(Files.newOutputStream(to)))
      Iterator.continually(Option(in.getNextEntry)).takeWhile(_.isDefined).flatten.filterNot(e => without(e.getName))
        .foreach { entry =>
          out.putNextEntry(new java.util.zip.ZipEntry(entry.getName))
          val _ = in.transferTo(out)
        }
    }.get
}
