// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import javax.security.auth.login.AppConfigurationEntry

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.common.config.SaslConfigs
import org.apache.kafka.common.config.types.Password
import org.apache.kafka.common.security.JaasContext
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule
import org.apache.kafka.common.security.plain.PlainLoginModule
import org.apache.kafka.common.security.scram.ScramLoginModule

import splice.kafka.dynamic.internal.options.DynamicOptions
import splice.kafka.internal.options.KafkaOptions
import splice.kafka.internal.secrets.SecretReferences

/** Login modules that a metadata document may use in `sasl.jaas.config`, and the options of each module.
  *
  * Options need an allow-list too. For example, Kafka reads the options of the OAUTHBEARER module as properties of a
  * client, so the option `config.providers` loads a class.
  */
private[dynamic] object LoginModules {

  /** Options that a document may set, and prefixes of such options. Names are case-sensitive, as in a login module. */
  final private case class Options(names: Seq[String], prefixes: Seq[String] = Nil) {
    def allow(name: String): Boolean = names.contains(name) || prefixes.exists(prefix => name.startsWith(prefix))
    def text: String                 = (names ++ prefixes.map(prefix => s"$prefix*")).mkString(", ")
  }

  private def unsecured(option: String): String = s"unsecuredLogin$option"

  private val plain = Options(Seq("username", "password"))

  private val scram = Options(Seq("username", "password", "tokenauth"))

  private val bearer = Options(
    Seq("clientId", "clientSecret", "scope") ++
      Seq("PrincipalClaimName", "ScopeClaimName", "LifetimeSeconds").map(unsecured),
    Seq("extension_") ++ Seq("StringClaim_", "NumberClaim_", "ListClaim_", "Extension_").map(unsecured)
  )

  private val kerberos = Options(
    Seq("principal", "serviceName", "isInitiator", "doNotPrompt", "refreshKrb5Config", "debug") ++
      Seq("useKeyTab", "keyTab", "useTicketCache", "ticketCache", "renewTGT") ++
      Seq("storeKey", "useFirstPass", "tryFirstPass", "storePass", "clearPass")
  )

  private val modules: Map[String, Options] = Map(
    classOf[PlainLoginModule].getName              -> plain,
    classOf[ScramLoginModule].getName              -> scram,
    classOf[OAuthBearerLoginModule].getName        -> bearer,
    "com.sun.security.auth.module.Krb5LoginModule" -> kerberos
  )

  // A private-use character is not part of a secret. Kafka's parser reads this character as part of a word.
  private val Reference = '\uE000'

  // These characters end a text in quotation marks.
  private val ends = Set('"', '\'', '\r', '\n')

  private val unknown =
    "the value is not one login line with a login module that metadata may use: " +
      modules.keys.toSeq.sorted.mkString(", ")

  private val misplaced =
    "a reference in a login line must be in the value of an option, and must contain no quotation mark and no line " +
      s"break. Correct the reference, for example password='$${file:/run/secrets/east:password}'"

  /** Returns the reason why the login line of a cluster is rejected; None if the line is allowed. Kafka's parser reads
    * the line, because another parser may find other modules and options.
    *
    * @param query
    *   the client properties that the query's options set for the cluster
    */
  def rejection(cluster: String, query: Map[String, String], value: String): Option[String] = {
    val references = new SecretReferences(query)
    if (references.isReference(value)) None
    else {
      val line = references.replaced(value, Reference.toString)
      entry(line) match {
        case Some(found) if hasSafeReferences(value, line, found) => unlisted(cluster, found)
        case Some(_)                                              => Some(misplaced)
        case None                                                 => Some(unknown)
      }
    }
  }

  /** Returns the entry of a login line; None if the line does not have exactly one entry with an allowed module. */
  private def entry(line: String): Option[AppConfigurationEntry] =
    Try(JaasContext.loadClientContext(java.util.Map.of(SaslConfigs.SASL_JAAS_CONFIG, new Password(line)))).toOption
      .map(_.configurationEntries.asScala.toSeq)
      .collect { case Seq(found) if modules.contains(found.getLoginModuleName) => found }

  /** True if the line has the same module and options when Kafka does not replace a reference. Kafka does not replace a
    * reference to a missing key, so the key may otherwise end a comment or a quoted text and begin another option.
    *
    * @param line
    *   the value with a character instead of each reference
    */
  private def hasSafeReferences(value: String, line: String, entry: AppConfigurationEntry): Boolean = {
    val texts  = SecretReferences.all(value).flatMap(known => Seq(known.provider, known.path, known.key))
    val placed = entry.getOptions.values.asScala.toSeq.map(_.toString.count(_ == Reference)).sum
    !texts.exists(_.exists(ends)) && placed == line.count(_ == Reference)
  }

  private def unlisted(cluster: String, entry: AppConfigurationEntry): Option[String] = {
    val options = modules(entry.getLoginModuleName)
    // Kafka's parser returns null as the name of an option such as '%'.
    val names    = entry.getOptions.keySet.asScala.toSeq.map(name => Option(name).getOrElse(""))
    val rejected = names.filterNot(options.allow).sorted.map(name => s"'$name'")
    Option.when(rejected.nonEmpty)(
      s"metadata may not set ${rejected.mkString(", ")} as options of the login module ${entry.getLoginModuleName}. " +
        "Remove these options, or move the login line to " +
        s"'cluster.$cluster.${KafkaOptions.ClientPrefix}${SaslConfigs.SASL_JAAS_CONFIG}' in the options of the " +
        "query. If the author of the metadata may have the rights of this job, set " +
        s"'${DynamicOptions.MetadataProperties.key}' to 'any'. Metadata may set ${options.text}"
    )
  }
}
