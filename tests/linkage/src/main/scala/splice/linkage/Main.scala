// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import java.io.File

import scala.util.Using

/** Checks the jar of Splice against several versions of Spark.
  *
  * Usage: `Main FOLDER VERSION=JARS...`. FOLDER contains the jars of Splice and of the Kafka client. JARS is the folder
  * of the jars of that version of Spark. The program prints each problem, and exits with 1 if a problem exists.
  */
object Main {
  private val OurJar = "splice-spark_"

  def main(arguments: Array[String]): Unit = {
    val (ours, others) = Jars.in(new File(arguments.head)).partition(_.getName.startsWith(OurJar))
    require(ours.size == 1, s"exactly one $OurJar*.jar must be in ${arguments.head}, not ${ours.size}: run `make jar`")
    val classes = Jars.classes(ours.head)
    val found   = arguments.tail.toSeq.map(argument => check(argument, classes, ours ++ others))
    if (found.sum > 0) sys.exit(1)
  }

  private def check(argument: String, classes: Seq[Array[Byte]], ours: Seq[File]): Int = {
    val version = argument.takeWhile(_ != '=')
    val folder  = argument.drop(version.length + 1)
    val spark   = Jars.in(new File(folder))
    require(spark.exists(_.getName.startsWith("spark-catalyst_")), s"no jars of Spark are in $folder")
    Using.resource(new Jars(spark ++ ours)) { jars =>
      val linkage  = new Linkage(jars.world)
      val problems = classes.flatMap(linkage.problems)
      problems.foreach(problem => println(s"Spark $version: $problem"))
      val asked = classes.flatMap(References.of).distinct.count(_.owner.startsWith("org/apache/spark/"))
      println(s"Spark $version: ${classes.size} classes, $asked references into Spark, ${problems.size} problems")
      problems.size
    }
  }
}
