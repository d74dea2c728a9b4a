// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.kafka.dynamic.internal.document.{DocumentProperties, MetadataDocument, MetadataText}
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.secrets.ClientSecrets
import splice.source.errors.SpliceException
import splice.source.internal.Secrets

/** Fetches a [[MetadataDocument]] and parses it.
  *
  * @param document
  *   the name of the document in errors
  * @param fetch
  *   returns the text; an exception means that the document is unavailable
  */
final private[dynamic] class DocumentService(
    name: String,
    document: String,
    rules: DocumentProperties
)(fetch: => String)
    extends KafkaMetadataService {

  override def allStreams(): StreamMetadata = MetadataDocument.read(document, fetch, rules)

  override def toString: String = name
}

private[dynamic] object DocumentService {

  /** Creates the service of a file on any file system that Hadoop supports.
    *
    * To replace the file, a writer renames another file to its name, as Kubernetes does for a mounted ConfigMap. Splice
    * then never reads a partial document.
    */
  def file(file: Path, configuration: Configuration, rules: DocumentProperties): DocumentService = {
    lazy val fs = file.getFileSystem(configuration)
    val shown   = Secrets.redact("metadata.file", file.toString)
    val name    = s"the file $shown"
    new DocumentService(name, shown, rules)(
      try Using.resource(fs.open(file))(MetadataText.read(shown, _))
      catch {
        case e: SpliceException => throw e
        case NonFatal(e)        => throw unavailable(name, e, users(file))
      }
    )
  }

  // Some file systems repeat the address with its user and password in an error.
  private def unavailable(name: String, e: Throwable, users: Seq[String]): SpliceException = {
    val shown  = Secrets.hide(e.toString, users)
    val all    = ClientSecrets.chain(e).flatMap(error => error +: error.getSuppressed.toSeq)
    val isSafe = all.forall(error => Secrets.hide(error.toString, users) == error.toString)
    MetadataErrors.unavailable(name, shown, Option.when(isSafe)(e))
  }

  // A user without a password is not a secret: `abfss://container@account` is a location.
  private def users(file: Path): Seq[String] = {
    val authorities = Seq(file.toUri.getRawAuthority, file.toUri.getAuthority).flatMap(Option(_))
    authorities.filter(_.contains('@')).map(text => text.take(text.lastIndexOf('@'))).filter(_.contains(':'))
      .flatMap(user => Seq(user, user.drop(user.indexOf(':') + 1)))
  }

  /** Creates the service of a function of the Python program that builds the source. */
  def callback(callback: String, rules: DocumentProperties): DocumentService = {
    val name     = s"the Python function $callback"
    def lookup() = MetadataCallbacks.find(callback).getOrElse(throw MetadataErrors.unavailable(
      name,
      "this driver does not have the function. Run the program that builds the source"
    ))
    new DocumentService(name, name, rules)({
      val function = lookup()
      try function.document()
      catch { case NonFatal(e) => throw MetadataErrors.unavailable(name, String.valueOf(e.getMessage), Some(e)) }
    })
  }
}
