// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import scala.jdk.CollectionConverters._

/** Builder methods that set options by name. Each method returns the builder, whose type is `This`, so that calls can
  * be chained.
  */
trait OptionSetters[This <: OptionSetters[This]] { this: This =>

  /** Sets one option. If an option is set several times, the last value applies. */
  def option(key: String, value: String): This

  def option(key: String, value: Boolean): This = option(key, value.toString)

  def option(key: String, value: Long): This = option(key, value.toString)

  def option(key: String, value: Double): This = option(key, value.toString)

  /** Sets several options. */
  def options(values: scala.collection.Map[String, String]): This =
    values.foldLeft[This](this) { case (builder, (key, value)) => builder.option(key, value) }

  /** Sets several options, for Java. */
  def options(values: java.util.Map[String, String]): This = options(values.asScala)
}
