// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.common.config.SaslConfigs
import org.apache.kafka.common.internals.Topic

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.options.ClusterNames
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.options.AdmissionOptions.MaxBytes
import splice.kafka.internal.options.KafkaOptions.MaxOffsets
import splice.kafka.internal.secrets.{LoginLine, SecretReferences}
import splice.source.internal.Secrets
import splice.source.options.SourceOption
import splice.source.options.SourceOptions.fold

/** Document of a metadata file or endpoint, as YAML or JSON:
  * {{{
  * version: 1
  * generation: 7
  * confirmRemovals: 12
  * clusters:
  *   east: {bootstrapServers: "east-1:9092,east-2:9092", properties: {security.protocol: SSL}}
  *   west: {bootstrapServers: "west-1:9092", active: false, maxOffsetsPerTrigger: 100000}
  * streams:
  *   orders: {east: [orders], west: [orders, orders-old]}
  * cutovers:
  *   orders: {timestamp: "2026-01-01T00:00:00Z"}
  * starts: {orders: latest}
  * stops: {orders: {timestamp: "2026-02-01T00:00:00Z"}}
  * }}}
  */
private[dynamic] object MetadataDocument {

  /** Version of the format above. */
  val Version = 1L

  val TopicNames = "1 to 249 ASCII letters, digits, '.', '_' and '-', but not '.' or '..'"

  /** Maximum number of characters of the name of a stream. The checkpoint repeats the name for each topic. */
  val LongestStream = 249

  val StreamNames = s"the name of a stream has at least 1 and at most $LongestStream characters. Correct the name"

  private val Servers = CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG

  /** Parses and checks a document.
    *
    * @param name
    *   the name of the document in errors
    * @param rules
    *   decides which properties a document may set
    * @throws splice.source.errors.SpliceException
    *   if the document is not valid; the error contains the line
    */
  def read(name: String, text: String, rules: DocumentProperties): StreamMetadata = {
    val root    = YamlNode.parse(name, text)
    val version = root.fields.collectFirst { case ("version", at) => at }.getOrElse(root.wrong("'version' is missing"))
    if (version.number > Version) throw MetadataErrors.newer(name, version.number, Version)
    if (version.number < 1) version.wrong(s"'${version.text}' is not a valid version. Use $Version")
    val sections = Seq("clusters", "streams", "cutovers", "starts", "stops")
    val parts    = root.only(Seq("version", "generation", "confirmRemovals") ++ sections: _*)
    val clusters = parts.get("clusters").toSeq.flatMap(_.fields).map(cluster(_, rules))
    val known    = SortedSet.from(clusters.map(_.name))
    val streams  = parts.getOrElse("streams", root.wrong("'streams' is missing")).fields.map(stream(_, known))
    val byName   = SortedMap.from(streams.map(s => s.name -> s))
    def fields(section: String) = parts.get(section).toSeq.flatMap(_.fields)
    val cutovers                = PlaceSections.cutovers(fields("cutovers"), byName)
    val starts                  = PlaceSections.starts(fields("starts"), byName)
    val stops                   = PlaceSections.stops(fields("stops"), byName)
    StreamMetadata(
      parts.get("generation").map(_.number),
      SortedMap.from(clusters.map(c => c.name -> c)),
      SortedMap.from(streams.map(s =>
        s.name -> s.copy(
          cutover = cutovers.get(s.name),
          start = starts.get(s.name),
          stop = stops.get(s.name)
        )
      )),
      parts.get("confirmRemovals").map(count)
    )
  }

  private def count(at: YamlNode): Int = at.text.toIntOption.filter(_ >= 1).getOrElse(
    at.wrong(s"'${at.text}' is not a valid number of topics. Use a whole number from 1 to ${Int.MaxValue}, such as 12")
  )

  private def cluster(entry: (String, YamlNode), rules: DocumentProperties): KafkaCluster = {
    val (name, value) = entry
    if (!ClusterNames.isValid(name)) value.wrong(s"'$name' is not a valid cluster name: ${ClusterNames.Allowed}")
    val parts   = value.only("bootstrapServers", "properties", "active", MaxOffsets.key, MaxBytes.key)
    val servers = parts.getOrElse("bootstrapServers", value.wrong("'bootstrapServers' is missing"))
    val written = parts.get("properties").toSeq.flatMap(_.fields)
    written.foreach { case (key, at) => if (key == Servers) at.wrong("set 'bootstrapServers' instead") }
    // In an object with braces, a comma in a value without quotation marks begins another name, which may be a secret.
    if (written.exists { case (key, at) => at.isNull && !DocumentProperties.Allowed(key) })
      value.wrong(
        "a name in 'properties' has no value. Write a space after ':', and a value that contains ',' in quotation marks"
      )
    val lines = SortedMap.from(written :+ (Servers -> servers))
    val all   = lines.map { case (key, at) => key -> at.text }
    lines.foreach { case (key, at) => rules.rejection(name, all, key).foreach(at.wrong) }
    KafkaCluster(
      name,
      all,
      parts.get("active").forall(_.bool),
      parts.get(MaxOffsets.key).map(limit(MaxOffsets)),
      parts.get(MaxBytes.key).map(limit(MaxBytes))
    )
  }

  private def limit(option: SourceOption[Long])(at: YamlNode): Long =
    option.kind.parse(at.text).getOrElse(at.wrong(s"'${at.text}' is not a valid limit. Use ${option.kind.allowed}"))

  // The rule of Kafka. Splice would read a name such as "a,b" as two topics.
  private def topic(at: YamlNode): String = {
    val name = at.text
    if (!Topic.isValid(name)) at.wrong(s"'$name' is not a valid topic name. Use $TopicNames")
    name
  }

  private def stream(entry: (String, YamlNode), clusters: Set[String]): KafkaStream = {
    val (name, value) = entry
    if (name.isEmpty || name.length > LongestStream) value.wrong(StreamNames)
    val topics = value.fields.map { case (cluster, list) =>
      if (!clusters(cluster))
        list.wrong(s"cluster '$cluster' does not exist; the clusters are ${clusters.toSeq.sorted.mkString(", ")}")
      val names = list.items.map(topic)
      if (names.isEmpty) list.wrong("no topic is named")
      cluster -> SortedSet.from(names)
    }
    KafkaStream(name, SortedMap.from(topics))
  }
}

/** Rejects literal secrets in metadata, because the checkpoint stores metadata.
  *
  * @param allowed
  *   true if metadata may contain literal secrets
  * @param query
  *   returns the client properties that the query's options set for a cluster, which may configure ConfigProviders
  */
final private[dynamic] class LiteralSecrets(allowed: Boolean, query: String => Map[String, String]) {

  import LiteralSecrets._

  /** Returns the reason why a property of a cluster is rejected; None if the property is allowed.
    *
    * @param properties
    *   all properties that the metadata sets for the cluster
    */
  def rejection(cluster: String, properties: Map[String, String], key: String): Option[String] = {
    val references = new SecretReferences(query(cluster) ++ properties)
    val value      = properties(key)
    Option.when(!allowed && isLiteral(references, key, value)) {
      val unknown = references.unconfigured(value).map(name =>
        s". No provider '$name' is configured: set 'kafka.config.providers' and 'kafka.config.providers.$name.class'"
      )
      s"the value contains a literal secret. Use a reference such as $${file:/run/secrets/kafka:password}, or set " +
        s"'allowLiteralSecrets' to 'true'${unknown.mkString}"
    }
  }
}

private[dynamic] object LiteralSecrets {

  // A private-use character is not part of a secret. The parser of JAAS lines reads this character as part of a word.
  private val Reference = "\uE000"

  private def isLiteral(references: SecretReferences, key: String, value: String): Boolean =
    if (references.isReference(value)) false
    else {
      val text = references.replaced(value, Reference)
      if (fold(key).endsWith(SaslConfigs.SASL_JAAS_CONFIG))
        references.unconfigured(value).nonEmpty || LoginLine.options(text).exists { case (name, of) =>
          Secrets.isSecret(name) && of != Reference
        }
      else Secrets.isSecret(key) || Secrets.redact(key, text) != text
    }
}
