// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.kept

import java.nio.file.{Files, Path}
import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}

import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.kafka.Place
import splice.kafka.dynamic.internal.cluster.SingleClusterCheckpoint
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition, PositionEntries, StoredPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries, DocumentEntries, TopicState}
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.bounds.{EndingEntries, Retention, SkipEntries, StartEntries, StartResolver}
import splice.kafka.internal.cluster.{LogDescription, Recheck}
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.errors.SkippedRows
import splice.kafka.internal.identity.{DeletionEntries, Generation, IdentityEntries, TopicOwner}
import splice.kafka.internal.options.{OutOfRange, Subscription}
import splice.kafka.internal.split.KafkaPosition
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, LogPartition, Position, ReadMode}

/** Content of a kept checkpoint of a query over many clusters, and a writer of the same content in the current
  * format.
  *
  * The content has every kind of line at least once.
  */
private[kept] object KeptWorld {

  private val t0     = Instant.parse("2026-01-01T00:00:00Z")
  private val time   = Place.At(Instant.parse("2026-01-02T03:04:05.678Z"), Duration.ofSeconds(90))
  private val mapped = Place.Offsets(SortedMap(
    "east" -> SortedMap(p("payments", 0) -> 1200L, p("payments", 1) -> 1180L),
    "west" -> SortedMap(p("payments", 0) -> 80L)
  ))

  private def p(topic: String, partition: Int): LogPartition = LogPartition(topic, partition)

  private def on(cluster: String, topic: String): ClusterTopic = ClusterTopic(cluster, topic)

  private def kafka(topic: String, offsets: Long*): KafkaPosition =
    KafkaPosition.of(offsets.zipWithIndex.map { case (offset, i) => p(topic, i) -> offset })

  private def stream(name: String, cutover: Option[Place], topics: ClusterTopic*): (String, KafkaStream) =
    name -> KafkaStream(
      name,
      SortedMap.from(topics.groupMap(_.cluster)(_.topic).map { case (c, some) => c -> SortedSet.from(some) }),
      cutover
    )

  private def cluster(name: String, properties: (String, String)*): (String, KafkaCluster) =
    name -> KafkaCluster(name, SortedMap(properties: _*) + ("bootstrap.servers" -> s"$name-1:9092,$name-2:9092"))

  private val east = cluster(
    "east",
    "security.protocol" -> "SASL_SSL",
    "sasl.jaas.config"  -> s"$${file:/run/secrets/east:jaas}"
  )
  private val west = cluster("west")

  private val north = cluster("north")

  // Position in the generation after a recreation of the topic.
  private val renewed = kafka("refunds", 7).as("refunds", 2)

  // Topics that wait for the same topics share one set, as after a document.
  private val drained = SortedSet(on("east", "asked"), on("east", "orders"))

  private val removed = TopicState.Removed("refunds", t0.plusSeconds(1), renewed, kafka("refunds", 9).as("refunds", 2))

  /** Changes of the first document, of a document that removes, moves and restores topics, and of a document with
    * cutovers.
    */
  val changes: Seq[AppliedMetadata] = Seq(
    AppliedMetadata.first(StreamMetadata(
      Some(7),
      SortedMap(east, west),
      SortedMap(
        stream("orders", None, on("east", "orders"), on("east", "Größe \"x\""), on("west", "orders")),
        stream("refunds", None, on("west", "refunds"))
      )
    )).copy(at = Some(t0)),
    AppliedMetadata(
      1,
      None,
      SortedMap(east, west),
      SortedMap(stream("orders", None, on("west", "new-orders"), on("west", "old-orders"))),
      SortedMap(
        on("east", "asked")  -> TopicState.Draining("orders", t0, TopicState.Bound.Requested),
        on("east", "orders") -> TopicState.Draining(
          "orders",
          t0,
          TopicState.Bound.Ends(kafka("orders", 50, 60)),
          SortedSet(on("east", "asked")),
          kafka("orders", 45),
          Some(t0.plusSeconds(2))
        ),
        on("west", "forgotten")  -> TopicState.Gone,
        on("west", "new-orders") -> TopicState.Reading("orders", drained),
        on("west", "old-orders") -> TopicState.Reading(
          "orders",
          drained,
          Some(kafka("old-orders", 3, 4))
        ),
        on("west", "refunds") -> removed
      )
    ),
    AppliedMetadata(
      2,
      Some(9),
      SortedMap(east, west.copy(_2 = west._2.copy(active = false)), north),
      SortedMap(
        stream("orders", Some(time), on("west", "mirror"), on("west", "forgotten"), on("west", "refunds")),
        stream("payments", Some(mapped), on("west", "payments"))
      ),
      SortedMap(
        on("east", "orders")   -> TopicState.Draining("orders", t0, TopicState.Bound.At(time)),
        on("east", "payments") ->
          TopicState.Draining("payments", t0, TopicState.Bound.Ends(kafka("payments", 1200, 1180))),
        on("west", "forgotten") -> TopicState.Waiting("orders", None, Some(TopicState.Gone)),
        on("west", "mirror")    -> TopicState.Waiting("orders", Some(time), None),
        on("west", "payments")  ->
          TopicState.Reading("payments", start = Some(kafka("payments", 80)), expected = kafka("payments", 80)),
        on("west", "refunds") -> TopicState.Waiting("orders", Some(time), Some(removed))
      ),
      SortedMap("payments" -> 9L),
      Some(t0.plusMillis(1500))
    )
  )

  /** History of these changes. */
  val history: Seq[String] = Seq(
    "0 streamApplied: orders, refunds",
    "0 clusterAdded: east, west",
    "0 topicAdded: east/Größe \"x\", east/orders, west/orders, west/refunds",
    "1 topicAdded: west/new-orders, west/old-orders",
    "1 topicRemoved: east/Größe \"x\", east/orders, west/orders, west/refunds",
    "1 topicDrainDelayed: east/orders",
    "2 streamApplied: payments",
    "2 clusterAdded: north",
    "2 clusterDeactivated: west",
    "2 topicAdded: west/mirror, west/payments",
    "2 topicReturned: west/forgotten, west/refunds",
    "2 topicRemoved: west/new-orders, west/old-orders",
    "2 topicCutoverScheduled: west/mirror, west/refunds"
  )

  /** Generation of a document that caused no change. */
  val generation: Long = 12

  /** Position entries of the side log. Offsets refer to the last entry. */
  val positions: Seq[DynamicPosition] = Seq(
    DynamicPosition.of(1, Seq("east" -> kafka("orders", 41, 42), "west" -> kafka("new-orders", 0).and(renewed))),
    DynamicPosition.of(2, Seq("east" -> kafka("orders", 50, 60).and(kafka("payments", 9, 8))))
  )

  /** Offsets with their positions: of a query that began with one cluster, of complete positions, and of an entry. */
  val offsets: Seq[Position] = Seq(
    DynamicPosition.of(0, Seq(DynamicPosition.Unnamed -> kafka("orders", 5, 6))),
    DynamicPosition.of(0, Nil),
    DynamicPosition.of(1, Seq("east" -> kafka("orders", 40, 41), "west" -> renewed)),
    StoredPosition(0, 1),
    StoredPosition(1, 2)
  )

  val takenOver = "east"

  /** Stored descriptions of one cluster. */
  val identities: Seq[LogDescription] = Seq(
    SortedMap("orders" -> "topic-1"),
    SortedMap("orders" -> "topic-1", "refunds" -> "topic-2")
  ).map(LogDescription(Some("id-of-west"), _, SortedSet.empty, SortedSet.empty))

  val renewals: Seq[Generation] = Seq(
    Generation(
      "refunds",
      1,
      TopicOwner(Some("id-of-west"), Some("topic-3")),
      kafka("refunds", 99),
      kafka("refunds", 0)
    ),
    Generation("refunds", 2, TopicOwner(Some("id-of-west"), None), KafkaPosition.Empty, kafka("refunds", 2))
  )

  val starts: KafkaPosition = kafka("orders", 11, 12).and(renewed)

  val skip: (KafkaPosition, KafkaPosition) = (renewed, kafka("refunds", 30).as("refunds", 2))

  val gone: DeletionEntries.Deletion = DeletionEntries.Deletion("orders", kafka("orders", 20, 21), Some(t0))

  val back: DeletionEntries.Deletion = DeletionEntries.Deletion("refunds", renewed, Some(t0))

  val ending: EndingEntries.Entry = EndingEntries.Entry(kafka("orders", 100, 200), kafka("orders", 10, 20))

  /** Side log of a checkpoint in this folder. */
  def sideLog(checkpoint: Path): SideLog = new HadoopSideLog(
    new HadoopPath(checkpoint.resolve("sources/0/splice").toUri),
    new Configuration(false)
  )

  def ofWest(log: SideLog): SideLog = log.scope("cluster-west")

  /** Reads the stored ending of a log. No request is sent. */
  def endingOf(log: SideLog): EndingEntries.Entry = {
    val nothing = new SimulatedLog(Subscription.Topics(SortedSet("orders")))
    nothing.create("orders", 2)
    val recheck = new Recheck(1, Duration.ZERO, _ => ())
    val resolve = new StartResolver(nothing, new Retention(nothing, OutOfRange.Fail, new SkippedRows), recheck, None)
    val context = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 1, "kept")
    new EndingEntries(
      context,
      nothing,
      resolve,
      new StartEntries(log),
      () => new SkipEntries(log).known,
      _ => ()
    ).resolve(
      Place.Exact(ending.end.offsets),
      ending.start,
      SortedSet.from(ending.end.offsets.keySet)
    )
  }

  /** Writes the content in the current format: `offsets/<n>` and the side log. */
  def write(checkpoint: Path): Unit = {
    val folder = Files.createDirectories(checkpoint.resolve("offsets"))
    offsets.zipWithIndex.foreach { case (offset, i) => Files.writeString(folder.resolve(i.toString), offset.json) }
    val log  = sideLog(checkpoint)
    val kept = new ChangeEntries(log)
    changes.foreach(kept.append)
    val long = new PositionEntries(log, longest = 0)
    positions.foreach(long.offset)
    new DocumentEntries(log).store(generation)
    new SingleClusterCheckpoint(
      log,
      changes.head.copy(topics = changes.head.topics.filter(_._1.cluster == takenOver))
    )(DynamicPosition.of(0, Seq(DynamicPosition.Unnamed -> kafka("orders", 5, 6))))
    writeWest(ofWest(log))
  }

  private def writeWest(log: SideLog): Unit = {
    val identity = new IdentityEntries(log)
    identities.foreach(identity.note)
    renewals.foreach(g => identity.renew(g.topic, g.owner, g.was)(g.starts))
    new StartEntries(log).starts(starts.offsets.keySet.toSet, starts)(_ => starts.offsets.toMap)
    new SkipEntries(log).add(skip._1, skip._2)
    val deletions = new DeletionEntries(log)
    Seq(gone, back).foreach(d => d.since.foreach(deletions.delete(d.topic, d.at, _)))
    deletions.restore(back.topic)
    val _ = endingOf(log)
  }

  /** Writes a checkpoint to a new folder. */
  def main(arguments: Array[String]): Unit = arguments match {
    case Array(folder) => write(Path.of(folder))
    case _             => throw new IllegalArgumentException("one folder is needed")
  }
}
