// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.kafka.dynamic.life.cluster.{
  LifeClock,
  LifeCluster,
  LifeDocument,
  LifeDocuments,
  LifeFault,
  LifeRow,
  LifeRows,
  LifeWait
}
import splice.kafka.dynamic.life.oracle.{LifeOracle, Sizes}
import splice.kafka.dynamic.life.planted.PlantedFault
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.source.{EnumeratorContext, SplitRange}
import splice.testkit.simulation.{Life, Violation}

/** Clusters, metadata and checkpoint of one scenario, with the record of its queries. */
final private[life] class LifeWorld(val life: Life, val plan: LifePlan, fault: PlantedFault) extends LifeWatch {

  val rows     = new LifeRows
  val clusters = Seq("c0", "c1", "c2").map(id => id -> new LifeCluster(id, rows, () => life.clock.steady.millis)).toMap
  val side     = new MemorySideLog

  /** Cluster ids by every name that a document ever had. */
  val names: mutable.Map[String, String] = mutable.Map("east" -> "c0", "west" -> "c1", "north" -> "c2")

  override val responses: LifeWait = new LifeWait(cluster(_).faults)

  private val chance  = life.chance
  private val own     = new LifeClock(life.clock, isHealthy, fault.durations(life.clock), responses)
  private val running = mutable.ArrayBuffer.empty[LifeEnumerator]
  private val timed   = mutable.ArrayBuffer.empty[Long]

  private val initial = {
    val streams = (0 to chance.between(1, 2)).map(n => s"s$n").map(name => name -> placed(name)) ++
      Option.when(plan.mirrors)("m" -> LifeDocument.stream("m", "east" -> "m"))
    LifeDocument(1, SortedMap.from(names), SortedMap.from(streams))
  }

  val documents          = new LifeDocuments(initial)
  val source: LifeSource = new LifeSource(plan.options, clusters, documents, this)
  val oracle             = new LifeOracle(this)

  /** Newest document that is not stale. */
  var valid: LifeDocument = initial

  /** Ids of the rows of all batches so far. */
  var sink: () => Iterator[Long] = () => Iterator.empty

  /** Permits changed plans of logged batches, because records were lost. */
  var replan: () => Unit = () => ()

  /** Hook after each plan, with the number of plans of the run. */
  var whenAdvanced: Int => Unit = _ => ()

  /** Call of the query that runs or that has failed; None if no such call runs. */
  var call: Option[String] = None

  /** Number of plans of a run. */
  var advances: Int = 0

  /** Number of started drivers. */
  var drivers: Int = 0

  /** Sizes of all logs at the publication of each document, by generation. */
  val published: mutable.Map[Long, Sizes] = mutable.Map.empty

  /** True if a stream was moved to a mirror without a cutover. */
  var mayRepeat = false

  /** Greatest published generation. */
  var newest: Long = 1

  clusters.values.foreach(cluster => if (plan.mirrors) { val _ = cluster.create("m", 2) })
  prepare(initial)
  published(newest) = sizes
  life.note(plan.toString)
  life.note(initial.toString)

  def cluster(name: String): LifeCluster = clusters(names(name))

  def isHealthy: Boolean = clusters.values.forall(_.faults.isHealthy)

  /** Sets the wall clock to a time ahead of the steady clock. A negative time is a time before the steady clock. */
  def step(ahead: Duration): Unit = {
    val by = ahead.minus(life.clock.ahead)
    if (by.isNegative) life.met("the wall clock is set back")
    life.clock.set(by)
  }

  def heal(): Unit = clusters.values.foreach(_.faults.heal())

  /** Creates a stream with topics on one or two of the clusters. */
  def placed(stream: String, on: Seq[String] = Seq("east", "west", "north")): KafkaStream = {
    val places = (0 to chance.between(0, 1)).map(_ => chance.oneOf(on) -> s"$stream-${chance.oneOf(Seq("x", "y"))}")
    LifeDocument.stream(stream, places.distinct: _*)
  }

  /** Publishes a document that replaces all earlier documents. */
  def publish(document: LifeDocument): Unit = {
    newest += 1
    valid = document.copy(generation = newest)
    prepare(valid)
    published(newest) = sizes
    life.note(valid.toString)
    documents.publish(valid)
  }

  /** Sizes of all logs. */
  def sizes: Sizes = Sizes((for {
    cluster  <- clusters.values.iterator
    topic    <- cluster.names.iterator.flatMap(cluster.topic)
    (log, p) <- topic.partitions.iterator.zipWithIndex
  } yield (topic.id -> p) -> log.size.toLong).toMap)

  /** Publishes a stale document, as a replica of the service may return. */
  def publishOutdated(document: LifeDocument): Unit = {
    prepare(document)
    life.note(s"outdated $document")
    documents.publish(document)
  }

  /** Creates the topics of a document. */
  private def prepare(document: LifeDocument): Unit = {
    names ++= document.clusters
    document.topics.foreach { case (name, topic) => val _ = cluster(name).create(topic, chance.between(1, 2)) }
  }

  def write(id: String, topic: String, partition: Int, count: Int): Unit = {
    val targets = if (topic == "m") clusters.keys.toSeq.sorted else Seq(id)
    targets.foreach(c => clusters(c).write(topic, partition, count, life.clock.steady.millis))
    life.note(s"$count records to $id/$topic-$partition")
  }

  /** Ids of the records of a range. */
  def ids(range: SplitRange): Iterator[Long] = range match {
    case of: DynamicSplitRange =>
      log(of).iterator.flatMap(_.slice(of.range.from.toInt, of.range.until.toInt)).map(_.id)
    case other => throw new Violation(s"a range of another source: $other")
  }

  /** Returns the log of a range. */
  def log(of: DynamicSplitRange): Option[collection.IndexedSeq[LifeRow]] = {
    val known =
      of.range.topicId.flatMap(cluster(of.cluster).byId).orElse(cluster(of.cluster).topic(of.range.partition.topic))
    known.flatMap(_.partitions.lift(of.range.partition.partition))
  }

  /** Stores the id of a record that a reader has read in a batch in real-time mode. */
  def read(id: Long): Unit = timed += id

  /** Returns true if readers can read rows of a cluster. */
  def isReadable(name: String): Boolean = cluster(name).faults.current match {
    case LifeFault.Away | LifeFault.Soon(0) => false
    case _                                  => true
  }

  override def timed(context: EnumeratorContext): EnumeratorContext =
    context.copy(sideLog = fault.sideLog(context.sideLog), clock = life.clock, durations = Some(own))

  override def ofCluster(enumerator: ClusterEnumerator): ClusterEnumerator = fault.cluster(enumerator)

  override def comparesPartitions: Boolean = fault.comparesPartitions

  override def run(name: String): String = s"life-${life.seed}-$name"

  override def opened(run: LifeEnumerator): Unit = {
    drivers += 1
    running += run
  }

  override def begins(call: String): Unit = {
    this.call = Some(call)
    own.begin()
    val waits = call == "advance" || call == "settle"
    if (waits && life.isCalm) life.clock.advance(Duration.ofSeconds(20))
    // The query thread waits for these calls.
    if (!waits) clusters.values.foreach { cluster =>
      cluster.faults.current match {
        case LifeFault.Hanging | LifeFault.Late => cluster.faults.heal()
        case _                                  => ()
      }
    }
  }

  override def ended(): Unit = call = None

  override def advanced(run: LifeEnumerator, from: DynamicOffset, until: DynamicOffset): Unit = {
    oracle.observe(Some(run))
    if (until != from) {
      val ranges = run.splits(from, until)
      life.note(s"planned ${ranges.mkString(", ")}")
      oracle.planned(ranges.flatMap(ids))
    }
    advances += 1
    whenAdvanced(advances)
  }

  override def settled(run: LifeEnumerator, at: DynamicOffset): Unit = {
    oracle.observe(Some(run))
    timed.clear()
    life.note(s"open ${run.open(at).mkString(", ")}")
  }

  override def reached(): Unit = {
    oracle.planned(timed.toSeq)
    timed.clear()
  }

  override def open(ranges: Seq[SplitRange]): Seq[SplitRange] = ranges.map(fault.timed.open)

  override def unread(planned: Seq[SplitRange], left: Seq[SplitRange]): Seq[SplitRange] =
    fault.timed.unread(planned, left)(isReadable)

  /** Closes the enumerators of an ended driver, and requires that no call waits and no client is open. */
  def closed(): Unit = {
    running.foreach(_.close())
    running.clear()
    clusters.values.foreach { cluster =>
      if (cluster.faults.isOverdue) throw new Violation(s"a call waits for ${cluster.id} without a limit")
      if (!cluster.awaitClosed()) throw new Violation(s"clients of ${cluster.id} are not closed")
    }
    oracle.observe(None)
  }

  /** Topics with the ids of their clusters. */
  def physical(topics: Iterable[(String, String)]): SortedSet[(String, String)] =
    SortedSet.from(topics.map { case (name, topic) => names(name) -> topic })
}
