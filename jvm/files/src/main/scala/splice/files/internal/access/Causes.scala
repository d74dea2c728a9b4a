// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.access

private[files] object Causes {

  // Causes may form a cycle.
  private val Depth = 20

  /** Returns an error and its causes, outermost first. */
  def of(e: Throwable): Iterator[Throwable] =
    Iterator.iterate(Option(e))(_.flatMap(error => Option(error.getCause))).takeWhile(_.isDefined).take(Depth).flatten
}
