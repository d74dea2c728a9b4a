// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.options.AdmissionOptions.MaxBytes
import splice.kafka.internal.options.KafkaOptions.MaxOffsets
import splice.source.options.SourceOption

/** Document of a metadata file or endpoint, as YAML or JSON:
  * {{{
  * version: 1
  * generation: 7
  * confirmRemovals: 12
  * clusters:
  *   east: {bootstrapServers: "east-1:9092,east-2:9092", credentials: reader}
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

  /** Parses and checks a document.
    *
    * @param name
    *   the name of the document in errors
    * @param rules
    *   decides which properties and credentials a document may set
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
    val clusters = parts.get("clusters").toSeq.flatMap(_.fields).map { case (name, at) => cluster(name, at) }
    val streams  = parts.getOrElse("streams", root.wrong("'streams' is missing")).fields.map(stream)
    // The names of a document may have equal hash codes, which make a hash map slow.
    val names                   = SortedSet.from(streams.map(_.name))
    def places(section: String) = SortedMap.from(parts.get(section).toSeq.flatMap(_.fields).map { case (stream, at) =>
      if (!names(stream)) at.wrong(s"stream '$stream' does not exist; the streams are ${names.mkString(", ")}")
      stream -> PlaceText.read(section, at)
    })
    val (cutovers, starts, stops) = (places("cutovers"), places("starts"), places("stops"))
    val metadata                  = StreamMetadata(
      parts.get("generation").map(_.number),
      SortedMap.from(clusters.map(c => c.name -> c)),
      SortedMap.from(streams.map(s =>
        s.name -> s.copy(cutover = cutovers.get(s.name), start = starts.get(s.name), stop = stops.get(s.name))
      )),
      parts.get("confirmRemovals").map(count)
    )
    new MetadataCheck(rules).problem(metadata).foreach(problem => root.find(problem.path).wrong(problem.reason))
    metadata
  }

  private def count(at: YamlNode): Int = at.text.toIntOption.filter(_ >= 1).getOrElse(
    at.wrong(s"'${at.text}' is not a valid number of topics. Use a whole number from 1 to ${Int.MaxValue}, such as 12")
  )

  private def cluster(name: String, value: YamlNode): KafkaCluster = {
    val parts   = value.only("bootstrapServers", "credentials", "properties", "active", MaxOffsets.key, MaxBytes.key)
    val servers = parts.getOrElse("bootstrapServers", value.wrong("'bootstrapServers' is missing"))
    val written = parts.get("properties").toSeq.flatMap(_.fields)
    written.foreach { case (key, at) =>
      if (key == DocumentProperties.Servers) at.wrong("set 'bootstrapServers' instead")
    }
    // In an object with braces, a comma in a value without quotation marks begins another name, which may be a secret.
    if (written.exists { case (_, at) => at.isNull })
      value.wrong(
        "a name in 'properties' has no value. Write a space after ':', and a value that contains ',' in quotation marks"
      )
    KafkaCluster(
      name,
      SortedMap.from(written :+ (DocumentProperties.Servers -> servers)).map { case (key, at) => key -> at.text },
      parts.get("active").forall(_.bool),
      parts.get(MaxOffsets.key).map(limit(MaxOffsets)),
      parts.get(MaxBytes.key).map(limit(MaxBytes)),
      parts.get("credentials").map(_.text)
    )
  }

  private def limit(option: SourceOption[Long])(at: YamlNode): Long =
    option.kind.parse(at.text).getOrElse(at.wrong(s"'${at.text}' is not a valid limit. Use ${option.kind.allowed}"))

  private def stream(entry: (String, YamlNode)): KafkaStream = {
    val (name, value) = entry
    KafkaStream(
      name,
      SortedMap.from(value.fields.map { case (cluster, list) => cluster -> SortedSet.from(list.items.map(_.text)) })
    )
  }
}
