// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import scala.annotation.tailrec
import scala.util.matching.Regex

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.config.SaslConfigs

import splice.source.internal.Secrets
import splice.source.options.SourceOptions.fold

/** The secret values in the properties of a client, and errors of the client without these values.
  *
  * Kafka's messages contain the name of a property instead of its value. However, Kafka quotes a part of a JAAS login
  * line that has a syntax error.
  */
final private[splice] class ClientSecrets(properties: Map[String, String]) {

  private lazy val references = new SecretReferences(properties)

  private lazy val secrets: Set[String] = properties.iterator.flatMap {
    case (key, value) if !Secrets.isSecret(key) => Seq(value).filter(Secrets.redact(key, _) != value)
    case (key, value) if fold(key).endsWith(SaslConfigs.SASL_JAAS_CONFIG) => login(value)
    case (_, value)                                                       => value +: ClientSecrets.lines(value)
  }.filterNot(references.isReference).toSet

  /** Returns the error if the error contains no secret, else an error with the same text without secrets. */
  def hide(error: Throwable): Throwable = {
    val reported = ClientSecrets.chain(error).flatMap(e => Option(e.getMessage))
    if (reported.forall(text => shown(text) == text)) error
    else {
      val clean = new KafkaException(shown(ClientSecrets.reason(error)))
      clean.setStackTrace(error.getStackTrace)
      clean
    }
  }

  private def shown(text: String): String =
    ClientSecrets.quoted.replaceAllIn(
      Secrets.hide(text, secrets),
      Regex.quoteReplacement(s"'${Secrets.Redacted}' in JAAS config")
    )

  /** The values in a login line, without the values that identify the user. */
  private def login(line: String): Seq[String] =
    line +: LoginLine.options(line).collect {
      case (key, value) if !ClientSecrets.open(fold(key)) => value
    }
}

private[splice] object ClientSecrets {

  // An error may quote one line of a key with several lines. The first and the last line are the same for all keys.
  private def lines(text: String): Seq[String] =
    text.linesIterator.map(_.trim).filter(line => line.length >= LineLength && !line.startsWith("-----")).toSeq

  private val LineLength = 16

  // A quoted key or flag of the parser may be part of a password that contains a quote.
  private val quoted = "'[^']*' in JAAS config".r

  private val open = Set("username", "principal", "servicename", "keytab", "usekeytab", "storekey", "scope")

  /** The messages of an error and its causes, without duplicates. */
  def reason(error: Throwable): String =
    chain(error).map(e => Option(e.getMessage).getOrElse(e.getClass.getSimpleName)).distinct.reduceLeft {
      (message, more) =>
        if (message.contains(more)) message else s"$message: $more"
    }

  /** An error and its causes. The error comes first. */
  def chain(error: Throwable): Seq[Throwable] = {
    @tailrec def down(at: Option[Throwable], above: Vector[Throwable]): Seq[Throwable] = at match {
      case Some(e) if above.size < 16 => down(Option(e.getCause), above :+ e)
      case _                          => above
    }
    down(Some(error), Vector.empty)
  }
}
