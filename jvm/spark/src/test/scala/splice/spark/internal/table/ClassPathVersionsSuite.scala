// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import java.net.URLClassLoader
import java.nio.file.{Files, Path}
import java.util.jar.{JarEntry, JarOutputStream}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

/** Several versions of one library on a class path. */
final class ClassPathVersionsSuite extends AnyFunSuite {

  private val kafka  = "org/apache/kafka/clients/consumer/KafkaConsumer.class"
  private val splice = "splice/spark/SpliceProvider.class"

  private def jar(name: String, resource: String): Path = {
    val file = Files.createTempDirectory("class-path").resolve(name)
    Using.resource(new JarOutputStream(Files.newOutputStream(file)))(_.putNextEntry(new JarEntry(resource)))
    file.toFile.deleteOnExit()
    file
  }

  private def warnings(jars: Path*): Seq[String] =
    Using.resource(new URLClassLoader(jars.map(_.toUri.toURL).toArray, ClassLoader.getPlatformClassLoader)) {
      ClassPathVersions.warnings
    }

  test("the warnings name two versions of Splice and of the Kafka client") {
    val jars = Seq("kafka-clients-3.9.2.jar", "kafka-clients-4.1.0.jar").map(jar(_, kafka)) ++
      Seq("splice-spark_2.13-0.1.0.jar", "splice-spark_2.13-0.2.0.jar").map(jar(_, splice))
    val found = warnings(jars: _*)
    assert(found.size == 2)
    assert(found.head.contains("of Splice: ") && found(1).contains("of the Kafka client: "))
    jars.foreach(one => assert(found.exists(_.contains(one.getFileName.toString))))
  }

  test("one version is allowed, including in two jars") {
    assert(warnings(jar("kafka-clients-3.9.2.jar", kafka), jar("splice-spark_2.13-0.1.0.jar", splice)).isEmpty)
    assert(warnings(jar("kafka-clients-3.9.2.jar", kafka), jar("kafka-clients-3.9.2.jar", kafka)).isEmpty)
    assert(warnings().isEmpty)
  }
}
