// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.access

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.AccessControlException

import splice.source.errors.SpliceException
import splice.source.internal.Secrets

/** Users and passwords in the paths of a source, such as `ftp://user:password@host/folder`.
  *
  * The file list, the blocks of tasks, errors and columns have paths without users and passwords. Readers restore
  * them from the options of the current start.
  */
final private[splice] class PathUsers private (roots: Seq[PathUsers.Root]) extends Serializable {

  /** Adds the user and password that the options have for the host of a URI. */
  def restore(uri: String): String =
    roots.filter(root => uri.startsWith(s"${root.host}/")) match {
      case Seq()    => uri
      case matching =>
        val nearest = matching.maxBy(root => if (uri.startsWith(root.folder)) root.folder.length else -1)
        nearest.host.replaceFirst("://", s"://${java.util.regex.Matcher.quoteReplacement(nearest.user)}@") +
          uri.drop(nearest.host.length)
    }

  /** Runs `body`. Replaces an error whose text contains a user and password by an error without credentials.
    */
  def guarded[A](body: => A): A =
    try body
    catch { case e: Exception => throw cleaned(e) }

  /** Returns the error, or an equivalent error without users and passwords. */
  def cleaned(e: Exception): Exception =
    if (roots.nonEmpty && Causes.of(e).exists(hasUser)) clean(e) else e

  private def hasUser(e: Throwable): Boolean = roots.exists(root => e.toString.contains(root.user))

  private def clean(e: Throwable): Exception = {
    val text = Secrets.hide(Option(e.getMessage).getOrElse(""), roots.map(_.user))
    val copy = e match {
      case error: SpliceException   => error
      case _: FileNotFoundException => new FileNotFoundException(text)
      case AccessDenied(_)          => new AccessControlException(text)
      case _: IOException           => new IOException(text)
      case other                    => new RuntimeException(s"${other.getClass.getName}: $text")
    }
    if (copy ne e) {
      copy.setStackTrace(e.getStackTrace)
      Option(e.getCause).filter(_ => Option(copy.getCause).isEmpty).foreach(cause => copy.initCause(clean(cause)))
    }
    copy
  }
}

private[splice] object PathUsers {

  val Nobody: PathUsers = new PathUsers(Nil)

  // A user without a password is not a secret: `abfss://container@account` is a location. `java.net.URI` rejects
  // hosts with an underscore, so a regular expression parses the user.
  private val user = "^([A-Za-z][A-Za-z0-9+.-]*://)([^/]*:[^/]*)@".r

  /** @param paths folders, files and patterns of the options */
  def of(paths: Seq[String]): PathUsers = {
    val roots = for {
      text <- paths if user.findFirstIn(text).isDefined
      uri = new Path(text.takeWhile(!"{[*?\\".contains(_))).toUri.toString
      matched <- user.findFirstMatchIn(uri)
    } yield {
      val folder = without(uri)
      val host   = folder.indexOf('/', matched.group(1).length)
      Root(if (host < 0) folder else folder.take(host), folder, matched.group(2))
    }
    if (roots.isEmpty) Nobody else new PathUsers(roots)
  }

  /** Removes the user and password from a URI. */
  def without(uri: String): String = if (uri.indexOf('@') < 0) uri else user.replaceFirstIn(uri, "$1")

  /** @param host scheme and host without the user */
  final private case class Root(host: String, folder: String, user: String)
}
