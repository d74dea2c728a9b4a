// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.life.cluster.{LifeDocument, LifeFault}
import splice.kafka.dynamic.life.oracle.LifeChanges
import splice.source.LogPartition

/** Events of a scenario outside of its query. */
final private[life] class LifeEvents(world: LifeWorld) {

  private val life   = world.life
  private val plan   = world.plan
  private val chance = life.chance

  private var earlier = Vector(world.valid)

  /** Runs a random event.
    *
    * @param at
    *   offset of the last batch if no batch is unfinished and no query runs
    */
  def happen(at: Option[String], isRunning: Boolean): Unit = chance.between(1, 100) match {
    case n if n <= 55 => write()
    case n if n <= 66 => publish(mutated())
    case n if n <= 73 => fault(isRunning)
    case n if n <= 83 => heal()
    case n if n <= 89 => pass()
    case n if n <= 93 => grow()
    case n if n <= 95 => outdated()
    case n if n <= 96 => if (isRunning) fail()
    case n if n <= 98 => if (plan.steps) step()
    case _            => if (plan.loses) lose(at)
  }

  def publish(document: LifeDocument): Unit = {
    earlier = (earlier :+ document).takeRight(5)
    world.publish(document)
  }

  /** Appends records to a topic, which belongs to a stream in most cases. */
  def write(): Unit = {
    val topics = world.physical(world.valid.topics).toSeq
    val all    = world.clusters.toSeq.sortBy(_._1).flatMap { case (id, c) => c.names.map(id -> _) }
    writeTo(chance.oneOf(if (topics.isEmpty || chance.oneIn(5)) all else topics))
  }

  private def writeTo(place: (String, String)): Unit = {
    val (id, topic) = place
    world.clusters(id).topic(topic).foreach { known =>
      world.write(id, topic, chance.between(0, known.partitions.size - 1), chance.between(1, 4))
    }
  }

  private def grow(): Unit = {
    val places = world.physical(world.valid.topics).toSeq.filterNot(_._2 == "m")
    if (places.nonEmpty) grow(chance.oneOf(places))
  }

  private def grow(place: (String, String)): Unit = {
    val (id, name) = place
    world.clusters(id).topic(name).filter(_.partitions.size < 4).foreach { topic =>
      world.clusters(id).grow(name)
      world.write(id, name, topic.partitions.size - 1, chance.between(1, 3))
    }
  }

  private def mutated(): LifeDocument = {
    val now     = world.valid
    val streams = now.streams - "m"
    chance.between(1, 15) match {
      case 1     => now
      case 2     => again(chance.oneOf(earlier), now)
      case 3 | 4 => again(earlier.dropRight(1).lastOption.getOrElse(now), now)
      case 5 => now.copy(inactive = if (now.inactive.isEmpty) Set(chance.oneOf(now.clusters.keys.toSeq)) else Set.empty)
      case 6 => added(now)
      case 7 => removed(now)
      case 9 if plan.mirrors    => moved(now)
      case 10 if plan.mirrors   => stopped(now)
      case n if n >= 13         => limited(now)
      case _ if streams.isEmpty => added(now)
      case _                    =>
        val name = chance.oneOf(streams.keys.toSeq)
        leaves(now, name)
        now.copy(streams = now.streams.updated(name, starting(now, world.placed(name, now.clusters.keys.toSeq))))
    }
  }

  /** Streams of an earlier document on clusters with their current names, without the mirrored stream. */
  private def again(old: LifeDocument, now: LifeDocument): LifeDocument = {
    val called  = now.clusters.map(_.swap)
    val streams = (old.streams - "m").map { case (key, stream) =>
      key -> stream.copy(topics = stream.topics.map { case (c, topics) => called(world.names(c)) -> topics })
    }
    now.copy(streams = streams ++ now.streams.get("m").map("m" -> _))
  }

  private def added(now: LifeDocument): LifeDocument = {
    val name = s"s${chance.between(0, 4)}"
    if (now.streams.contains(name)) now
    else now.copy(streams = now.streams.updated(name, starting(now, world.placed(name, now.clusters.keys.toSeq))))
  }

  /** Adds a random start to a stream, which may exclude records of its topics. */
  private def starting(now: LifeDocument, stream: KafkaStream): KafkaStream =
    if (chance.oneIn(2)) stream
    else {
      world.physical(LifeDocument.topics(Seq(stream.name -> stream))).foreach { case (id, topic) =>
        val _ = world.clusters(id).create(topic, chance.between(1, 2))
        writeTo(id -> topic)
      }
      stream.copy(start = Some(place(now, stream, Place.Earliest, Place.Latest)))
    }

  /** Changes the stop of a stream. */
  private def limited(now: LifeDocument): LifeDocument = {
    val names = now.streams.keys.toSeq
    if (names.isEmpty) now
    else {
      val stream = now.streams(chance.oneOf(names))
      def stop   =
        if (stream.stop.nonEmpty && chance.oneIn(2)) None else Some(place(now, stream, Place.Latest))
      val next = stream.copy(stop = stop)
      life.met("a stop changes")
      if (stream.name != "m" && chance.oneIn(2)) leaves(now, stream.name)
      now.copy(streams = now.streams.updated(stream.name, next))
    }
  }

  /** Random position in the topics of a stream. Offsets and times are excluded if logs lose records, because these
    * positions would refer to other records.
    */
  private def place(now: LifeDocument, stream: KafkaStream, words: Place*): Place =
    chance.between(1, 3) match {
      case 1 if !plan.loses && !plan.steps =>
        val time = life.clock.instant().plusSeconds(chance.between(-180, 180).toLong)
        Place.At(time, Duration.ofSeconds(chance.between(0, 60).toLong))
      case 2 if !plan.loses =>
        Place.Offsets(stream.topics.map { case (name, topics) =>
          val logs = topics.toSeq.flatMap(topic => world.clusters(now.clusters(name)).topic(topic))
          name -> SortedMap.from(for { log <- logs; (rows, p) <- log.partitions.zipWithIndex } yield LogPartition(
            log.name,
            p
          ) -> chance.between(0, rows.size).toLong)
        })
      case _ => chance.oneOf(words)
    }

  private def removed(now: LifeDocument): LifeDocument = {
    val names = (now.streams - "m").keys.toSeq
    if (now.streams.size < 2 || names.isEmpty) now
    else {
      val name = chance.oneOf(names)
      leaves(now, name)
      now.copy(streams = now.streams - name)
    }
  }

  /** Writes the last records before a stream leaves its topics, including records in new partitions. */
  private def leaves(now: LifeDocument, stream: String): Unit =
    world.physical(for { (c, topics) <- now.streams(stream).topics.toSeq; t <- topics } yield c -> t).foreach { place =>
      if (chance.oneIn(3)) grow(place)
      if (chance.oneIn(2)) writeTo(place)
    }

  /** Stops the mirrored stream, so that the stream may move after its stop. */
  private def stopped(now: LifeDocument): LifeDocument = now.copy(streams =
    now.streams.updatedWith("m")(
      _.map(m => m.copy(stop = m.stop.orElse(Some(place(now, m, Place.Latest)))))
    )
  )

  /** Moves the mirrored stream to another cluster, or replaces its move, also after the time of the move. */
  def moved(now: LifeDocument): LifeDocument = now.streams.get("m").fold(now) { stream =>
    val at      = stream.topics.keys.head
    val to      = chance.oneOf((now.clusters.keySet - at).toSeq)
    val pending = stream.cutover.collect { case Place.At(time, _, _) => time.isAfter(life.clock.instant()) }
    val next    =
      if (pending.exists(_ || chance.oneIn(2))) {
        if (pending.contains(false)) life.met("a move is replaced after its time")
        world.mayRepeat = true
        LifeDocument.stream("m", to -> "m")
      } else if (stream.cutover.isDefined) stream
      else {
        if (stream.stop.nonEmpty) life.met("a stream with a stop moves by a cutover")
        stream.copy(
          topics = LifeDocument.stream("m", to -> "m").topics,
          cutover = Some(cutover),
          stop = stream.stop.filter(_ => chance.oneIn(2))
        )
      }
    now.copy(streams = now.streams.updated("m", next))
  }

  private def cutover: Place =
    if (chance.oneIn(2)) Place.At(life.clock.steady.instant().plusSeconds(chance.between(1, 180).toLong))
    else {
      val offsets = SortedMap.from((0 to 1).map { p =>
        LogPartition("m", p) -> world.clusters("c0").log(LogPartition("m", p)).fold(0L)(_.size.toLong)
      })
      Place.Offsets(SortedMap.from(world.valid.clusters.keys.map(_ -> offsets)))
    }

  private def fault(isRunning: Boolean): Unit = {
    val (id, cluster) = chance.oneOf(world.clusters.toSeq.sortBy(_._1))
    val fault         = chance.between(1, 5) match {
      case 1 if plan.hangs && isRunning => LifeFault.Hanging
      case 2 if plan.hangs && isRunning => LifeFault.Late
      case 3                            => LifeFault.Soon(chance.between(0, 6))
      case 4                            => LifeFault.Behind
      case _                            => LifeFault.Away
    }
    life.note(s"$id: $fault")
    cluster.faults.set(fault)
  }

  private def heal(): Unit = world.clusters.toSeq.sortBy(_._1).filterNot(_._2.faults.isHealthy).headOption.foreach {
    case (id, cluster) =>
      life.note(s"$id is available again")
      cluster.faults.heal()
  }

  private def fail(): Unit = {
    life.met("the metadata service fails")
    world.documents.fail()
  }

  /** Advances the time, as a long batch, trigger or pause does. */
  private def pass(): Unit = {
    val time = if (chance.oneIn(8)) Duration.ofHours(13) else Duration.ofMinutes(chance.between(1, 40).toLong)
    life.note(s"$time passes")
    life.clock.advance(time)
  }

  private def step(): Unit = {
    // A clock ahead of the producers would cut over before their records exist.
    val ahead = Duration.ofMinutes(chance.between(-90, if (plan.mirrors) 0 else 90).toLong)
    life.note(s"the wall clock is ahead by $ahead")
    world.step(ahead)
  }

  /** Returns an old document, as a stale replica of the metadata service does. */
  private def outdated(): Unit = if (world.newest > 3) {
    val old = again(chance.oneOf(earlier), world.valid)
    // A document with only a newer generation makes no change, but makes other documents stale.
    (1 to chance.between(0, 3)).foreach(_ => publish(world.valid))
    life.met("the metadata service returns an old document")
    world.publishOutdated(old.copy(
      generation = world.newest - chance.between(1, 3),
      streams = old.streams + ("s9" -> world.placed("s9", old.clusters.keys.toSeq))
    ))
  }

  /** Deletes, recreates or truncates a topic. Records that were read are kept.
    *
    * @param at
    *   as in [[happen]]; a log is truncated only if defined, because a replayed batch could not have the same rows
    *   otherwise
    */
  private def lose(at: Option[String]): Unit = {
    val places = world.physical(world.valid.topics).toSeq ++ world.oracle.topics.toSeq ++ world.oracle.leaving
    val known  = SortedSet.from(places.filterNot(_._2 == "m")).toSeq
    if (known.nonEmpty) {
      val (id, topic) = chance.oneOf(known)
      val cluster     = world.clusters(id)
      life.met("records are lost")
      if (at.isEmpty || chance.oneIn(2)) {
        life.note(s"$id/$topic is deleted")
        life.met("a topic is deleted")
        cluster.delete(topic)
        world.replan()
        if (chance.oneIn(2) || world.oracle.topics(id -> topic) || world.valid.topics.exists(_._2 == topic)) {
          life.note(s"$id/$topic is recreated")
          life.met("a topic is recreated")
          val _ = cluster.create(topic, 1)
        }
      } else cluster.topic(topic).foreach { log =>
        log.partitions.indices.foreach { p =>
          val read = world.names.toSeq.filter(_._2 == id).flatMap { case (name, _) =>
            at.flatMap(LifeChanges.offset(_, name, LogPartition(topic, p)))
          }.maxOption
          read.foreach { end =>
            life.note(s"$id/$topic-$p is truncated to $end")
            life.met("a topic is truncated")
            cluster.truncate(topic, p, end)
          }
        }
      }
    }
  }
}
