// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import java.io.File
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Jar of Splice to compare.
  *
  * @param jar
  *   path of the jar. The Kafka client and the folder `benchmark` next to the jar are used if they exist. The folder
  *   has the benchmark classes that were compiled with this build
  */
final private[builds] case class Build(name: String, jar: Path) {

  /** Command that runs a program of this benchmark on the build. The class path has no class of another build. */
  def command(program: String): Seq[String] = {
    val folder  = jar.resolveSibling("benchmark")
    val classes = (folder +: jar +: client).mkString("", File.pathSeparator, File.pathSeparator) + Build.benchmark
    (s"${sys.props("java.home")}/bin/java" +: Build.flags) ++ Seq("-cp", classes, program)
  }

  private def client: Seq[Path] = Using.resource(Files.list(jar.toAbsolutePath.getParent)) { files =>
    files.iterator.asScala.filter(_.getFileName.toString.matches("kafka-clients-.*\\.jar")).toVector
  }
}

private[builds] object Build {

  /** Build to compare with. */
  def base(jar: String): Build = at("base", jar)

  /** Build of this working tree. */
  def current(jar: String): Build = at("this", jar)

  private def at(name: String, jar: String): Build = {
    val file = Path.of(jar)
    if (!Files.isRegularFile(file)) sys.error(s"$jar is not a file")
    Build(name, file)
  }

  // Class path with the benchmark, Spark and the libraries, without Splice.
  private def benchmark: String =
    sys.props.getOrElse("splice.bench.classes", sys.error("the property splice.bench.classes is missing"))

  // Both builds run with the flags of this JVM, which Spark's launcher also passes.
  private def flags: Seq[String] =
    ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.filterNot(_.startsWith("-Dsplice.")).toSeq
}
