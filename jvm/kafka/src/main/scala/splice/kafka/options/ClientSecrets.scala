// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import java.util.Locale

import scala.annotation.tailrec
import scala.util.matching.Regex

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.config.SaslConfigs

import splice.source.Secrets

/** The texts among a client's properties that must not be shown, and errors of the client without them.
  *
  * Kafka's own messages name the property and not its value, but a login line that is not well formed is quoted in part.
  */
final private[splice] class ClientSecrets(properties: Map[String, String]) {

  private lazy val references = new SecretReferences(properties)

  private lazy val secrets: Set[String] = properties.iterator.flatMap {
    case (key, value) if !Secrets.isSecret(key) => Seq(value).filter(Secrets.redact(key, _) != value)
    case (key, value) if key.toLowerCase(Locale.ROOT).endsWith(SaslConfigs.SASL_JAAS_CONFIG) => login(value)
    case (_, value) => value +: ClientSecrets.lines(value)
  }.filterNot(references.isReference).toSet

  /** The error itself where nothing in it is secret, else one that says the same without. */
  def hide(error: Throwable): Throwable = {
    val told = ClientSecrets.chain(error).flatMap(e => Option(e.getMessage))
    if (told.forall(text => shown(text) == text)) error
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

  /** The values in a login line, but those that say who logs in. */
  private def login(line: String): Seq[String] =
    line +: LoginLine.options(line).collect {
      case (key, value) if !ClientSecrets.open(key.toLowerCase(Locale.ROOT)) => value
    }
}

private[splice] object ClientSecrets {

  // An error about a key of several lines may quote one of them; the frame around a key is the same for all.
  private def lines(text: String): Seq[String] =
    text.linesIterator.map(_.trim).filter(line => line.length >= LineLength && !line.startsWith("-----")).toSeq

  private val LineLength = 16

  // What the parser takes for a key or a flag may be part of a password with a quote in it.
  private val quoted = "'[^']*' in JAAS config".r

  private val open = Set("username", "principal", "servicename", "keytab", "usekeytab", "storekey", "scope")

  /** What an error and its causes say, each once. */
  def reason(error: Throwable): String =
    chain(error).map(e => Option(e.getMessage).getOrElse(e.getClass.getSimpleName)).distinct.reduceLeft {
      (said, more) =>
        if (said.contains(more)) said else s"$said: $more"
    }

  /** An error and its causes, outermost first. */
  def chain(error: Throwable): Seq[Throwable] = {
    @tailrec def down(at: Option[Throwable], above: Vector[Throwable]): Seq[Throwable] = at match {
      case Some(e) if above.size < 16 => down(Option(e.getCause), above :+ e)
      case _                          => above
    }
    down(Some(error), Vector.empty)
  }
}
