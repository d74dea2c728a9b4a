// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.util.Locale

import splice.source._

/** Checks the names of legs: they become parts of option names, of offsets and of file names. */
private[splice] object LegNames {

  private val allowed = "[A-Za-z][A-Za-z0-9_]*".r

  // What stands before a dot in options that are passed on, or is an option in some source's builder.
  private val alsoReserved = Seq("kafka", "path", "paths", "format", "option")

  /** @throws SpliceOptionException when a name is not allowed, is an option's, or comes twice whatever its case */
  def check(options: SourceOptions, names: Seq[String]): Unit = {
    def refuse(name: String, why: String) = throw HybridErrors.legName(options.name(HybridOptions.Legs.key), name, why)
    names.foreach { name =>
      if (!allowed.matches(name))
        refuse(name, "a name begins with a letter and has letters, digits and underscores only")
      if (reserved(fold(name))) refuse(name, "it is the name of an option")
    }
    names.groupBy(fold).values.find(_.size > 1).foreach { same =>
      refuse(same.mkString("' and '"), "names must differ in more than the case of their letters")
    }
  }

  private def reserved: Set[String] = {
    val own = Seq(CommonOptions.set, HybridOptions.set, HybridOptions.leg) ++ SourceProvider.all.map(_.options)
    (own.flatMap(_.options.map(_.key)) ++ alsoReserved).map(key => fold(key.takeWhile(_ != '.'))).toSet
  }

  private def fold(name: String): String = name.toLowerCase(Locale.ROOT)
}
