// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import splice.source.{SourceOptions, SourceProvider, SpliceException, SpliceOptionException}

/** What the Python package calls through py4j; only strings cross. */
object PythonApi {

  /** Checks the options of a source without reading: "" when they are fine, else what is wrong. */
  def check(options: JMap[String, String]): String =
    try {
      val _ = SourceProvider.create(SourceOptions(options.asScala.toMap))
      ""
    } catch {
      case e: SpliceOptionException => e.getMessage
      case e: SpliceException       => e.getMessage
    }
}
