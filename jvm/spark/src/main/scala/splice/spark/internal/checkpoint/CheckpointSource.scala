// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import java.io.IOException

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.conf.Configuration

import splice.coordinator.internal.ChainEntries
import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.source.LogPartition
import splice.source.errors.SpliceException
import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredOffset, StoredSource}
import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.SideLog

/** One source of a checkpoint: its side log and its offsets.
  *
  * @param name
  *   number or name of the source in the query
  */
final private[spark] class CheckpointSource(
    val name: String,
    content: CheckpointContent,
    files: CheckpointFiles,
    configuration: Configuration
) {

  private val folder  = files.sideLog(name)
  private val folders = files.sideLogs(name)

  /** Folder of the side log, relative to the checkpoint. */
  val path: String = s"sources/$name/splice"

  /** Side log of the source, which is empty if Splice has not run the source. */
  val log: SideLog = new HadoopSideLog(folder, configuration)

  /** True if Spark's own source may have written the checkpoint. */
  private def isOfSpark: Boolean = kind.contains(CheckpointSource.Kafka)

  /** True if the source has a side log. A checkpoint of Spark's own source has no side log. */
  def hasSideLog: Boolean = folders.nonEmpty

  /** Ends of the batches, oldest first. */
  val ends: Seq[StoredOffset] = content.ends(name)

  /** Legs of the checkpoint, or None without a readable entry. */
  lazy val chain: Option[Seq[LegIdentity]] =
    try ChainEntries.stored(log)
    catch { case _: SpliceException => None }

  /** Kind of the source, or None for a source of another project. */
  lazy val kind: Option[String] = chain.flatMap(_.headOption) match {
    case Some(first) => Some(if (first.name.isEmpty) first.source else CheckpointSource.Hybrid)
    case _           => ends.lastOption.flatMap(end => ChecksCheckpoint.all.find(_.isPosition(end.json)).map(_.kind))
  }

  /** Keys of all entries with the folder of their scope, and the entry or the error of its content. */
  lazy val entries: Seq[CheckpointSource.Entry] = folders.flatMap { at =>
    val scope = at.toString.stripPrefix(folder.toString).stripPrefix("/")
    val part  = new HadoopSideLog(at, configuration)
    part.keys("").map { key =>
      val where = Seq(path, scope, key).filter(_.nonEmpty).mkString("/")
      CheckpointSource.Entry(scope, key, read(part, where, key))
    }
  }

  private def read(part: SideLog, where: String, key: String): Either[CheckpointFinding, VersionedEntry] =
    try Right(VersionedEntry.read(key, part.get(key).getOrElse(Nil)))
    catch {
      case e: SpliceException => Left(CheckpointFinding.of(where, e))
      case e: IOException     =>
        Left(CheckpointFinding(where, s"The file could not be read: $e", "Make the storage available to the command."))
    }

  /** Returns all findings about the source. The positions are not compared with damaged entries. */
  def check(kafka: Map[String, String]): Seq[CheckpointFinding] = {
    val damaged = entries.flatMap(_.content.left.toOption)
    damaged ++ SideLogChecks(this, content.isWhole) ++
      (if (damaged.isEmpty && (hasSideLog || isOfSpark)) ofKind(initial.toSeq ++ ends, next, kafka)
       else Nil)
  }

  private def next = content.next(name).orElse(initial.filter(_ => content.committed.isEmpty))

  private def ofKind(offsets: Seq[StoredOffset], next: Option[StoredOffset], kafka: Map[String, String]) =
    kind.flatMap(ChecksCheckpoint.of).toSeq.flatMap { checker =>
      val legs   = chain.getOrElse(Seq(LegIdentity(None, checker.kind, None)))
      val stored = StoredSource(path, log, legs, offsets, next, kafka)
      CheckpointFinding.caught(path)(checker.check(stored))
    }

  /** Current leg of a hybrid, after the last committed batch. */
  lazy val leg: Option[String] = for {
    legs  <- chain
    begun <-
      content.next(name).orElse(ends.lastOption).flatMap(end => Json.read(end.json)).flatMap(Json.field(_, "legs"))
    last <- legs.flatMap(_.name).filter(begun.has).lastOption
  } yield last

  /** Returns the place of the log offsets in a position of this source.
    *
    * @param part
    *   a leg or a cluster; None for the current leg, or for the only cluster
    * @throws IllegalArgumentException
    *   if the source or the leg has no log offsets
    */
  def logOffsets(part: Option[String]): LogOffsets = {
    def names(key: String) = ends.lastOption.flatMap(end => Json.read(end.json)).flatMap(Json.field(_, key)).toSeq
      .flatMap(Json.fields).map(_._1)
    def single(key: String, chosen: Option[String])(unknown: Seq[String] => String) = {
      val all = names(key)
      if (all.isEmpty)
        throw new IllegalArgumentException(
          s"The position of source $name is an entry of the side log, which this command does not support."
        )
      chosen.filter(all.contains).fold(throw new IllegalArgumentException(unknown(all)))(one =>
        LogOffsets(Seq(key, one))
      )
    }
    kind match {
      case Some(CheckpointSource.Kafka) if part.isEmpty => LogOffsets(Nil)
      case Some(CheckpointSource.ManyClusters)          => single(
          "clusters",
          part.orElse(Some(names("clusters")).filter(_.size == 1).flatMap(_.headOption))
        )(all => s"The command needs a cluster of source $name. Set --cluster to one of ${all.mkString(", ")}.")
      case Some(CheckpointSource.Hybrid) =>
        val chosen = part.orElse(leg)
        val kafka  = chain.toSeq.flatten.filter(_.source == CheckpointSource.Kafka).flatMap(_.name)
        if (!chosen.exists(kafka.contains))
          throw new IllegalArgumentException(
            s"Leg '${chosen.getOrElse("")}' of source $name is not a Kafka leg of the checkpoint."
          )
        single("legs", chosen) { begun =>
          val usable = begun.filter(kafka.contains)
          s"The query has not begun leg '${chosen.getOrElse("")}' of source $name." +
            (if (usable.isEmpty) "" else s" Set --leg to one of ${usable.mkString(", ")}.")
        }
      case _ =>
        throw new IllegalArgumentException(s"Source $name has no log offsets${part.fold("")(p => s" of '$p'")}.")
    }
  }

  /** The first partition of a leg whose history has offsets after these offsets, with the offset after the history.
    *
    * @param part
    *   a leg, or None for the current leg
    */
  def filling(part: Option[String], offsets: JsonNode): Option[(LogPartition, Long)] = for {
    checker <- kind.flatMap(ChecksCheckpoint.of)
    current <- part.orElse(leg)
    found   <- checker.filled(log, current).find { case (p, end) =>
      Json.field(offsets, p.topic).flatMap(Json.field(_, p.partition.toString)).exists(_.asLong < end)
    }
  } yield found

  /** First position, if Splice has stored it. */
  private def initial: Option[StoredOffset] = entries.collectFirst {
    case CheckpointSource.Entry("", "initial", Right(entry)) if entry.lines.sizeIs == 1 =>
      StoredOffset(s"$path/initial", entry.line)
  }
}

private[spark] object CheckpointSource {

  /** Kind of a source of Kafka topics, which Spark has too. */
  val Kafka = "kafka"

  /** Kind of a source with several legs. */
  val Hybrid = "hybrid"

  /** Kind of a source of many clusters. */
  val ManyClusters = "dynamicKafka"

  /** Entry of a side log.
    *
    * @param scope
    *   folder of a part, such as `leg-live`; empty for the source
    */
  final case class Entry(scope: String, key: String, content: Either[CheckpointFinding, VersionedEntry])
}
