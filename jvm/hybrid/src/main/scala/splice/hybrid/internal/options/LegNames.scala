// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import splice.hybrid.internal.errors.HybridErrors
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** Checks the names of legs. Leg names become parts of option names, offsets and file names. */
private[splice] object LegNames {

  private val allowed = "[A-Za-z][A-Za-z0-9_]*".r

  /** @throws splice.source.errors.SpliceOptionException if a name is not an identifier, or two names differ in case only */
  def check(options: SourceOptions, names: Seq[String]): Unit = {
    def reject(name: String, why: String) = throw HybridErrors.legName(options.name(HybridOptions.Legs.key), name, why)
    names.filterNot(allowed.matches).foreach {
      reject(_, "a name begins with a letter and has letters, digits and underscores only")
    }
    names.groupBy(fold(_)).values.find(_.size > 1).foreach { same =>
      reject(same.mkString("' and '"), "the names differ only in the case of letters")
    }
  }
}
