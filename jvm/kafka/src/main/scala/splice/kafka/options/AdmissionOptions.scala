// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import splice.source.{Json, OptionErrors, OptionType, SourceOption, SourceOptions}

/** The options that say what a batch may read, and of which partitions. */
private[splice] object AdmissionOptions {

  val Admission: SourceOption[AdmissionPolicy] = SourceOption(
    "admission",
    OptionType.choice[AdmissionPolicy](AdmissionPolicy.all.map(p => p.word -> p): _*),
    "whose backlog goes first when more is there than a batch may read: lag shares by how far each partition is behind, equal gives all the same, oldest-first reads all up to the same time"
  ).withDefault(AdmissionPolicy.Lag, AdmissionPolicy.Lag.word)

  val MaxBytes: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "about so many bytes of keys and values a batch at most, by the size that each topic's records had in this run; a row at least"
  )

  val TopicWeights: SourceOption[Map[String, Double]] = SourceOption(
    "topicWeights",
    OptionType("JSON such as {\"orders\":3}, each number above 0", weights),
    "how many times the share of another topic a topic gets when more is there than a batch may read; 1 for topics that are not named"
  )

  val all: Seq[SourceOption[_]] = Seq(Admission, MaxBytes, TopicWeights)

  /** @throws splice.source.SpliceOptionException when options conflict, or name a topic that is not read */
  def rules(options: SourceOptions, subscription: Subscription): AdmissionRules = {
    val rules = AdmissionRules(options(Admission), options.find(TopicWeights).getOrElse(Map.empty))
    if (rules.policy == AdmissionPolicy.OldestFirst && options.contains(TopicWeights.key))
      throw OptionErrors.conflict(
        Seq(Admission, TopicWeights).map(o => options.name(o.key)),
        "oldest-first reads every topic up to the same time, whatever it weighs; leave one of them out"
      )
    val topics = subscription match {
      case Subscription.Topics(names)        => Some(names.toSet)
      case Subscription.Assigned(partitions) => Some(partitions.map(_.topic).toSet)
      case _: Subscription.TopicPattern      => None
    }
    for (names <- topics; topic <- rules.weights.keys.toSeq.sorted.find(!names(_)))
      throw OptionErrors.invalidValue(
        options.name(TopicWeights.key),
        topic,
        s"topics that are read: ${names.toSeq.sorted.mkString(", ")}",
        TopicWeights.doc
      )
    rules
  }

  private[splice] def weights(text: String): Option[Map[String, Double]] =
    Json.read(text).filter(_.isObject).flatMap { node =>
      val fields = Json.fields(node)
      if (fields.nonEmpty && fields.forall { case (_, weight) => weight.isNumber && weight.asDouble > 0 })
        Some(fields.map { case (topic, weight) => topic -> weight.asDouble }.toMap)
      else None
    }
}
