// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.io.File
import java.net.URLClassLoader
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.topicids.MetadataWatch

/** Tests of the support of decoded batches for versions of Kafka's client. */
final class PassedBatchesSuite extends AnyFunSuite {

  private val server = Path.of(sys.props("splice.kafka.server"))

  /** Returns the description of missing members of another client jar. */
  private def missing(client: Path): String = using(client) { loader =>
    val batches = loader.loadClass("splice.kafka.internal.consumer.PassedBatches$")
    batches.getMethod("missing").invoke(batches.getField("MODULE$").get(batches)).toString
  }

  /** Loads the reader classes with another jar of Kafka's client. */
  private def using[A](client: Path)(use: ClassLoader => A): A = {
    val path = sys.props("java.class.path").split(File.pathSeparator).toSeq.map(Path.of(_))
    val rest = path.filterNot(_.getFileName.toString.startsWith("kafka-clients-"))
    // Kafka's client loads its default classes with the context class loader.
    val thread = Thread.currentThread()
    val before = thread.getContextClassLoader
    Using.resource(
      new URLClassLoader((client +: rest).map(_.toUri.toURL).toArray, ClassLoader.getPlatformClassLoader)
    ) { loader =>
      thread.setContextClassLoader(loader)
      try use(loader)
      finally thread.setContextClassLoader(before)
    }
  }

  private def jar(name: String): Path = Using.resource(Files.list(server)) { files =>
    files.iterator.asScala.find(_.getFileName.toString.startsWith(name)).getOrElse(fail(s"no $name"))
  }

  test("the client versions of this build and of its Kafka server are supported") {
    assert(PassedBatches.missing.isEmpty)
    assert(missing(jar("kafka-clients-4")) == "None")
  }

  test("a version without a class of the consumer is reported with the class name") {
    val reduced = Files.createTempFile("kafka-clients-reduced", ".jar")
    try {
      reduce(jar("kafka-clients-4"), reduced)(_.contains("ConsumerNetworkClient"))
      assert(missing(reduced).contains("ConsumerNetworkClient"))
    } finally Files.delete(reduced)
  }

  test("the metadata of a consumer is found in the versions of this build and of its Kafka server") {
    val settings = Map("bootstrap.servers" -> "localhost:1") ++
      Seq("key.deserializer", "value.deserializer").map(
        _ -> "org.apache.kafka.common.serialization.ByteArrayDeserializer"
      )
    Using.resource(new KafkaConsumer[Array[Byte], Array[Byte]](settings.toMap[String, Object].asJava)) { consumer =>
      assert(MetadataWatch.topicIds(consumer).map(_().isEmpty).contains(true))
    }
    val found = using(jar("kafka-clients-4")) { loader =>
      val client = loader.loadClass(classOf[KafkaConsumer[_, _]].getName)
      val watch  = loader.loadClass("splice.kafka.internal.topicids.MetadataWatch$")
      Using.resource(client.getConstructor(classOf[java.util.Map[_, _]]).newInstance(settings.asJava).asInstanceOf[
        AutoCloseable
      ])(watch.getMethod("topicIds", client).invoke(watch.getField("MODULE$").get(watch), _).toString)
    }
    assert(found.startsWith("Some("))
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
