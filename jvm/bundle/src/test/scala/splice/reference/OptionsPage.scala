// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import splice.files.internal.options.FileOptions
import splice.hybrid.internal.options.HybridOptions
import splice.kafka.dynamic.internal.options.{Credentials, DynamicOptions, StreamStarts}
import splice.kafka.dynamic.internal.settings.ClusterOptions
import splice.kafka.internal.options.KafkaOptions
import splice.source.SourceProvider
import splice.source.internal.value.ValueOptions
import splice.source.options.{CommonOptions, OptionSet, SourceOption}
import splice.streams.internal.options.StreamOptions

/** Page of all options of all connectors. */
object OptionsPage {

  private val intro =
    """Option names are case-insensitive. In a hybrid source, an option of a leg begins with the leg's name and a dot:
      |`live.subscribe`. An unknown option is an error that names the most similar option, unless
      |`onUnknownOption` is `warn`. The exceptions are the file source and the stream source, which pass unknown
      |options to Spark's reader and to the stream, unless the name resembles an option of Splice.""".stripMargin

  def text: String = {
    val tables = sets.flatMap(set => Seq(s"## ${set.title}", table(set)))
    Markdown.page("Options", intro +: tables :+ s"## $Prefixed" :+ prefixes)
  }

  private val Prefixed = "Options with a prefix"

  private def prefixes: String = {
    val (kafka, many)                    = (KafkaOptions.set.title, DynamicOptions.set.title)
    def name(of: String, suffix: String) = Markdown.code(s"$of<$suffix>")
    def keys(of: Seq[String])            = of.map(Markdown.code).mkString(", ")
    val cluster                          = DynamicOptions.ClusterPrefix + "<name>."
    val stream                           = StreamStarts.Prefix + "<name>."
    Markdown.table(
      Seq("Option", "Source", "Description"),
      Seq(
        Seq(name("<leg>.", "option"), HybridOptions.set.title, "Option of a leg, or of the source of the leg."),
        Seq(name(KafkaOptions.ClientPrefix, "property"), s"$kafka; $many", "Property of the Kafka client."),
        Seq(
          name(ValueOptions.FormatPrefix, "option"),
          s"$kafka; $many",
          "Option of Spark's function `from_json`, which parses the values."
        ),
        Seq(
          name(cluster, "option"),
          many,
          s"Property `${KafkaOptions.ClientPrefix}<property>` of the client, or an option, for one cluster. " +
            s"Options: ${keys(ClusterOptions.allowed.map(_.key))}."
        ),
        Seq(
          name(s"${Credentials.Prefix}<name>.${KafkaOptions.ClientPrefix}", "property"),
          many,
          "Property of the Kafka client for the clusters whose metadata have `credentials: <name>`."
        ),
        Seq(name(stream, "option"), many, s"Option for one stream. Options: ${keys(StreamStarts.allowed)}."),
        Seq(
          name(DynamicOptions.MetadataHeader, "name"),
          many,
          "HTTP header of the requests to the metadata service `http`."
        ),
        Seq(
          name(DynamicOptions.ClassPrefix, "name"),
          many,
          s"Option of the class in `${DynamicOptions.MetadataClass.key}`."
        ),
        Seq(
          "any other option",
          FileOptions.set.title,
          "Option of Spark's reader for the format, such as `header`, `ignoreMissingFiles` or `ignoreCorruptFiles`."
        ),
        Seq(
          "any other option",
          StreamOptions.set.title,
          "Option of the format of the stream, or of the table, which Splice passes on unchanged."
        )
      )
    )
  }

  def sets: Seq[OptionSet] = {
    val connectors = SourceProvider.all.map(_.options).sortBy(_.title)
    CommonOptions.set +: connectors :+ HybridOptions.leg
  }

  private def table(set: OptionSet): String =
    Markdown.table(Seq("Option", "Allowed", "Default", "Since", "Description"), set.options.map(row(_)))

  private def row(option: SourceOption[_]): Seq[String] = Seq(
    Markdown.code(option.key),
    Markdown.text(option.kind.allowed),
    option.default.fold("")(d => Markdown.code(d._2)),
    option.since,
    Markdown.text(option.doc)
  )
}
