// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{ClientProperties, KafkaOptions}
import splice.source.errors.OptionErrors
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** Properties of the Kafka client that metadata selects by name: the options `credentials.<name>.kafka.<property>`.
  *
  * The metadata of a cluster contains only the name. Names are case-insensitive, as all keys of options.
  */
private[splice] object Credentials {

  val Prefix = "credentials."

  def isOne(key: String): Boolean = fold(key).startsWith(Prefix)

  /** Returns the names that the options define. */
  def names(options: SourceOptions): Seq[String] =
    options.keys.filter(isOne).flatMap(name).distinctBy(fold).sorted

  /** Returns the client properties of credentials, as options with the prefix `kafka.`.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if the options do not define the credentials. The name may come from the checkpoint
    */
  def of(options: SourceOptions, name: String): Map[String, String] = {
    val found = options.scope(s"$Prefix$name").toMap
    if (found.isEmpty) throw OptionErrors.missing(
      options.name(s"$Prefix$name.${KafkaOptions.ClientPrefix}<property>"),
      "The metadata selects these credentials for a cluster."
    )
    found
  }

  /** Checks all options of credentials.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if an option has another form, or sets a property that no option may set
    */
  def check(options: SourceOptions): Unit = options.keys.filter(isOne).foreach { key =>
    val property = name(key).map(found => key.drop(Prefix.length + found.length + 1 + KafkaOptions.ClientPrefix.length))
    val why      = property.fold(Option(s"write '$Prefix<name>.${KafkaOptions.ClientPrefix}<property>'"))(
      ClientProperties.rejection(_, options.toMap(key))
    )
    why.foreach(reason => throw KafkaErrors.rejectedOption(options.name(key), reason))
  }

  private def name(key: String): Option[String] = ofClient(key.drop(Prefix.length))

  /** Returns the name before the property of a client, in `<name>.kafka.<property>`. The name may contain dots. */
  def ofClient(rest: String): Option[String] = {
    val client = fold(rest).indexOf(s".${KafkaOptions.ClientPrefix}")
    Option.when(client > 0 && rest.length > client + KafkaOptions.ClientPrefix.length + 1)(rest.take(client))
  }
}
