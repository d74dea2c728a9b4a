// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import splice.kafka.internal.admission.{AdmissionFloor, AdmissionPolicy, AdmissionRules}
import splice.source.errors.OptionErrors
import splice.source.internal.entries.Json
import splice.source.options.{OptionType, SourceOption, SourceOptions}

/** The options that limit a batch and divide the batch among partitions. */
private[splice] object AdmissionOptions {

  val Admission: SourceOption[AdmissionPolicy] = SourceOption(
    "admission",
    OptionType.choice[AdmissionPolicy](AdmissionPolicy.all.map(p => p.word -> p): _*),
    "Policy that sets the shares of partitions in a batch that cannot hold all available rows. 'lag' sets " +
      "each share in proportion to the backlog of the partition. 'equal' sets the same share for every " +
      "partition."
  ).withDefault(AdmissionPolicy.Lag, AdmissionPolicy.Lag.word)

  val MaxBytes: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "Approximate maximum number of bytes of keys and values per batch. Splice estimates the bytes from the " +
      "average record size of each topic in the current run of the query. A batch has at least one row."
  )

  val TopicWeights: SourceOption[Map[String, Double]] = SourceOption(
    "topicWeights",
    OptionType("JSON such as {\"orders\":3}, each number above 0", weights),
    "Relative weights of topics in a batch that cannot hold all available rows. Splice multiplies the share " +
      "of a topic by the weight of the topic. Default: 1 for each topic that this option does not list."
  )

  val TopicFloors: SourceOption[Map[String, Double]] = SourceOption(
    "topicFloors",
    OptionType("JSON such as {\"orders\":0.2}, shares of a batch, each above 0, that add up to at most 1", floors),
    "Minimum share of each batch for a topic that has enough available rows. Default: no minimum share for " +
      "topics that this option does not list."
  )

  val all: Seq[SourceOption[_]] = Seq(Admission, MaxBytes, TopicWeights, TopicFloors)

  /** @throws splice.source.errors.SpliceOptionException when an option names a topic that is not read */
  def rules(options: SourceOptions, subscription: Subscription): AdmissionRules = {
    val shares = Seq(TopicWeights, TopicFloors)
    val topics = subscription match {
      case Subscription.Topics(names)        => Some(names.toSet)
      case Subscription.Assigned(partitions) => Some(partitions.map(_.topic).toSet)
      case _: Subscription.TopicPattern      => None
    }
    for {
      names  <- topics
      option <- shares
      topic  <- options.find(option).toSeq.flatMap(_.keys).sorted.find(!names(_))
    } throw OptionErrors.invalidValue(
      options.name(option.key),
      topic,
      s"topics that are read: ${names.toSeq.sorted.mkString(", ")}",
      option.doc
    )
    val floors = options.find(TopicFloors).getOrElse(Map.empty)
    AdmissionRules(
      options(Admission),
      options.find(TopicWeights).getOrElse(Map.empty),
      floors.toSeq.sorted.map { case (topic, part) => AdmissionFloor(part, Set(topic)) }
    )
  }

  private[splice] def weights(text: String): Option[Map[String, Double]] =
    Json.readObject(text).flatMap { node =>
      val fields = Json.fields(node)
      if (fields.nonEmpty && fields.forall { case (_, weight) => weight.isNumber && weight.asDouble > 0 })
        Some(fields.map { case (topic, weight) => topic -> weight.asDouble }.toMap)
      else None
    }

  private[splice] def floors(text: String): Option[Map[String, Double]] = weights(text).filter(_.values.sum <= 1)
}
