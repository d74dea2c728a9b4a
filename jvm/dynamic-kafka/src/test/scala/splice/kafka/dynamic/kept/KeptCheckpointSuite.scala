// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.kept

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.cluster.SingleClusterCheckpoint
import splice.kafka.dynamic.internal.split.{DynamicPosition, PositionEntries, StoredPosition}
import splice.kafka.dynamic.internal.state.{ChangeEntries, ChangeHistory, DocumentEntries}
import splice.kafka.internal.bounds.{SkipEntries, StartEntries}
import splice.kafka.internal.identity.{DeletionEntries, IdentityEntries, TopicOwner}
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, ReadMode}

/** Tests that offsets and side logs of queries over many clusters from all earlier versions are readable. */
final class KeptCheckpointSuite extends AnyFunSuite {

  // All kept versions stay readable. KeptWorld's main adds a new format at the end.
  private val versions = Seq("0.1.0")

  private def kept(version: String): Path =
    Path.of(getClass.getResource(s"/splice/kafka/dynamic/kept/$version").toURI)

  private def texts(checkpoint: Path): SortedMap[String, String] =
    Using.resource(Files.walk(checkpoint)) { files =>
      SortedMap.from(files.iterator.asScala.filter(Files.isRegularFile(_)).filterNot(isDigest).map { file =>
        checkpoint.relativize(file).toString -> new String(Files.readAllBytes(file), UTF_8)
      })
    }

  // Checksum files of Hadoop on a local disk.
  private def isDigest(file: Path): Boolean = file.getFileName.toString.startsWith(".")

  private def offset(version: String, number: Int): String =
    Files.readString(kept(version).resolve(s"offsets/$number"))

  private def eachLog(read: SideLog => Unit): Unit =
    versions.foreach(version => withClue(s"of $version: ")(read(KeptWorld.sideLog(kept(version)))))

  test("the current format equals the last kept version byte for byte") {
    val folder = Files.createTempDirectory("splice-kept")
    try {
      KeptWorld.write(folder)
      val (now, then) = (texts(folder), texts(kept(versions.last)))
      assert(now.keySet == then.keySet)
      now.foreach { case (name, text) => assert(text == then(name), name) }
    } finally
      Using.resource(Files.walk(folder))(_.sorted(Comparator.reverseOrder[Path]()).forEach(f => Files.delete(f)))
  }

  test("kept offsets of one cluster, of many clusters and of an entry have their meaning") {
    versions.foreach { version =>
      assert(Files.list(kept(version).resolve("offsets")).count() == KeptWorld.offsets.size.toLong)
      KeptWorld.offsets.zipWithIndex.foreach { case (expected, i) =>
        assert(DynamicPosition.read(offset(version, i)) == expected, s"$version, offset $i")
      }
    }
  }

  test("offsets refer to kept position entries") {
    versions.foreach { version =>
      val log    = new PositionEntries(KeptWorld.sideLog(kept(version)))
      val stored = KeptWorld.offsets.zipWithIndex.collect { case (_: StoredPosition, i) => offset(version, i) }
      assert(stored.map(text => log(DynamicPosition.read(text))) == KeptWorld.positions, version)
    }
  }

  test("kept changes have their removed, moved, waiting and planned topics") {
    eachLog { log =>
      val changes = new ChangeEntries(log).all
      assert(changes.size == KeptWorld.changes.size)
      changes.zip(KeptWorld.changes).foreach { case (read, expected) => assert(read == expected) }
    }
  }

  test("the generation of a kept document is unchanged") {
    def greatest(version: String) = new DocumentEntries(KeptWorld.sideLog(kept(version))).greatest
    assert(versions.map(greatest) == Seq(Some(KeptWorld.generation)))
  }

  test("the history of kept changes is unchanged") {
    eachLog { log =>
      val reported = ChangeHistory(log)
      assert(reported.map(event => s"${event.number} ${event.event}: ${event.names.mkString(", ")}") ==
        KeptWorld.history)
      assert(reported.map(_.generation).distinct == KeptWorld.changes.map(_.generation))
      assert(reported.map(_.at).distinct == KeptWorld.changes.map(_.at))
    }
  }

  test("a kept checkpoint of a source of one cluster still belongs to that cluster") {
    eachLog { log =>
      val at = new SingleClusterCheckpoint(log, fail("the decision is stored"))(DynamicPosition.of(
        0,
        KeptWorld.offsets.head match {
          case position: DynamicPosition => position.clusters
          case other                     => fail(other.json)
        }
      ))
      assert(at.clusters.keySet == Set(KeptWorld.takenOver))
      val context = EnumeratorContext(log, ReadMode.Stream, java.time.Clock.systemUTC(), 1, "kept")
      assert(new SingleClusterCheckpoint(
        log,
        fail("the decision is stored")
      ).scope(context, KeptWorld.takenOver).sideLog eq log)
    }
  }

  test("the kept entries of a cluster have the owner and the generation of its offsets") {
    eachLog { log =>
      val identity = new IdentityEntries(KeptWorld.ofWest(log)).known
      assert(identity.cluster.contains("id-of-west") && identity.latest("refunds") == 2)
      assert(identity.owner("orders", 0) == TopicOwner(Some("id-of-west"), Some("topic-1")))
      assert(identity.owner("refunds", 0) == TopicOwner(Some("id-of-west"), Some("topic-2")))
      KeptWorld.renewals.foreach(g => assert(identity.generation(g.topic, g.number).contains(g)))
    }
  }

  test("the kept entries of a cluster have starts, skipped ranges, deleted topics and the end") {
    eachLog { log =>
      val west   = KeptWorld.ofWest(log)
      val starts = KeptWorld.starts
      val found  = starts.offsets.keySet.toSet
      assert(new StartEntries(west).starts(found, starts)(_ => fail("the starts are stored")) == starts.offsets.toMap)
      val (from, to) = KeptWorld.skip
      from.offsets.foreach { case (p, offset) =>
        assert(new SkipEntries(west).known.start(p, from.generation(p.topic), offset, to.offsets(p) + 1) ==
          to.offsets(p))
      }
      val deletions = new DeletionEntries(west)
      assert(deletions.all.toSeq == Seq(KeptWorld.gone) && deletions.of(KeptWorld.back.topic).isEmpty)
      assert(west.keys("ending-").nonEmpty && KeptWorld.endingOf(west) == KeptWorld.ending)
    }
  }
}
