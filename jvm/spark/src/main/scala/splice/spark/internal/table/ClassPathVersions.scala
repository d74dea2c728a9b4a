// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

/** Detects several versions of Splice or of the Kafka client on the class path of the driver. The JVM then loads all
  * classes of the first version, or a mix of classes from several versions.
  */
private[spark] object ClassPathVersions {

  private val logger = LoggerFactory.getLogger(getClass)

  private val classes = Seq(
    "Splice"           -> "splice/spark/SpliceProvider.class",
    "the Kafka client" -> "org/apache/kafka/clients/consumer/KafkaConsumer.class"
  )

  private lazy val warned: Seq[String] = {
    val texts = warnings(getClass.getClassLoader)
    texts.foreach(logger.warn(_))
    texts
  }

  /** Logs the warnings, once per JVM. */
  def check(): Unit = { val _ = warned }

  /** Returns one text for each library that is in several jars with different names. */
  def warnings(loader: ClassLoader): Seq[String] = classes.flatMap { case (library, resource) =>
    val jars = loader.getResources(resource).asScala.map(_.toString).collect { case InJar(jar) => jar }.toSeq.distinct
    Option.when(jars.map(_.split('/').last).distinct.size > 1) {
      s"The class path has several versions of $library: ${jars.mkString(", ")}. Keep one version in spark.jars, " +
        "spark.jars.packages, --jars, --packages and the folder of Spark's jars."
    }
  }

  private val InJar = "jar:(.+\\.jar)!/.*".r
}
