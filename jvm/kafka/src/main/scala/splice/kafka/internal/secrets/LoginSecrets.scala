// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import javax.security.auth.login.AppConfigurationEntry
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.common.config.types.Password
import org.apache.kafka.common.config.{AbstractConfig, ConfigDef, SaslConfigs}
import org.apache.kafka.common.security.JaasContext

/** Inserts secrets into a JAAS login line (`sasl.jaas.config`) as values of its options.
  *
  * Kafka's clients insert a secret as text. A quotation mark, a semicolon or a backslash in the secret would then change
  * the options of the line.
  */
private[splice] object LoginSecrets {

  // Private-use characters are not part of a login line. Kafka's parser reads these characters as parts of a word.
  private val Marks = '\uE000' to '\uF8FF'

  /** Returns the properties of a client with the secrets in the login line. The line is unchanged in three cases: the
    * line is one reference to a whole line, the line has no reference to a configured ConfigProvider, or Kafka rejects
    * the line.
    *
    * @throws org.apache.kafka.common.config.ConfigException
    *   when a ConfigProvider cannot be created, or fails
    */
  def inserted(properties: Map[String, Object]): Map[String, Object] = {
    val texts = properties.collect { case (key, value: String) => key -> value }
    texts.get(SaslConfigs.SASL_JAAS_CONFIG).flatMap(line(_, texts))
      .fold(properties)(properties.updated(SaslConfigs.SASL_JAAS_CONFIG, _))
  }

  private def line(value: String, properties: Map[String, String]): Option[String] = {
    val references = new SecretReferences(properties)
    val found      = references.configured(value)
    if (found.isEmpty || references.isReference(value) || value.exists(Marks.contains(_)) || found.size > Marks.size)
      None
    else {
      val marks = found.zip(Marks)
      val text  = marks.foldLeft(value) { case (all, (reference, mark)) => all.replace(reference, mark.toString) }
      parsed(text).flatMap { entry =>
        val secrets = marks.map(_._2).zip(resolved(found, properties)).toMap
        written(entry, _.flatMap(char => secrets.getOrElse(char, char.toString)))
      }
    }
  }

  private def parsed(line: String): Option[AppConfigurationEntry] =
    Try(JaasContext.loadClientContext(java.util.Map.of(SaslConfigs.SASL_JAAS_CONFIG, new Password(line)))).toOption
      .flatMap(_.configurationEntries.asScala.headOption)

  private def resolved(references: Seq[String], properties: Map[String, String]): Seq[String] = {
    val providers = properties.filter { case (key, _) => key.startsWith(SecretReferences.Providers) }
    val named     = references.zipWithIndex.map { case (reference, i) => i.toString -> reference }
    val all       = new AbstractConfig(new ConfigDef, (providers ++ named).asJava, false).originals
    named.map { case (name, _) => all.get(name).toString }
  }

  private def written(entry: AppConfigurationEntry, insert: String => String): Option[String] = {
    val options = entry.getOptions.asScala.toSeq.map { case (key, value) => Option(key) -> value.toString }
    // Kafka's parser returns null as the name of an option such as '%'.
    Option.when(options.forall(_._1.nonEmpty)) {
      val all = options.flatMap { case (key, value) => key.map(k => s"${quoted(insert(k))}=${quoted(insert(value))}") }
      s"${quoted(insert(entry.getLoginModuleName))} ${flag(entry)} ${all.sorted.mkString(" ")};"
    }
  }

  private def flag(entry: AppConfigurationEntry): String = entry.getControlFlag match {
    case LoginModuleControlFlag.REQUIRED   => "required"
    case LoginModuleControlFlag.REQUISITE  => "requisite"
    case LoginModuleControlFlag.SUFFICIENT => "sufficient"
    case _                                 => "optional"
  }

  /** A text in quotation marks, as Kafka's parser reads it. A '$' in a secret must not begin a reference. */
  private def quoted(text: String): String = text.flatMap {
    case '"'  => "\\\""
    case '\\' => "\\\\"
    case '\n' => "\\n"
    case '\r' => "\\r"
    case '$'  => "\\044"
    case char => char.toString
  }.mkString("\"", "", "\"")
}
