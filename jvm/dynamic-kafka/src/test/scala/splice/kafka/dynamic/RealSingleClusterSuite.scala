// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.time.Clock
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.kafka.broker.RealLog
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, Position, ReadMode, Source, SourceProvider}
import splice.testkit.internal.broker.SharedKafka

/** Tests of the checkpoint of a query with the metadata of a single cluster. */
final class RealSingleClusterSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val broker = SharedKafka.east
  private lazy val real   = new RealLog(broker)
  private lazy val folder = Files.createTempDirectory("splice-single-cluster")

  override protected def afterAll(): Unit =
    Using.resource(Files.walk(folder))(_.sorted(Comparator.reverseOrder[Path]()).forEach(f => Files.delete(f)))

  private def source(password: String): Source[_ <: Position] = SourceProvider.create(SourceOptions(Map(
    "source"                      -> "dynamicKafka",
    "metadata"                    -> "singleCluster",
    "metadata.cluster"            -> "east",
    "kafka.bootstrap.servers"     -> broker.servers,
    "kafka.sasl.jaas.config"      -> s"""Login required username="me" password="$password";""",
    "kafka.ssl.keystore.password" -> s"$password-store",
    "streams"                     -> "single",
    "startingOffsets"             -> "earliest",
    "discoveryInterval"           -> "100ms"
  )))

  private def run(password: String, from: Option[Position], rows: Int): Position =
    run(source(password), folder.resolve("kept"), s"run-$password", from, rows)

  private def run(
      source: Source[_ <: Position],
      folder: Path,
      name: String,
      from: Option[Position],
      rows: Int
  ): Position = {
    val log     = new HadoopSideLog(new HadoopPath(folder.toUri), new Configuration())
    val context = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, name)
    Using.resource(new Coordinator(source, context, 2, batchesToRetain = 100)) { c =>
      var at = from.map(p => c.position(p.json)).getOrElse(c.initial())
      real.eventually(s"$rows rows") {
        at = c.advance(at, everything = false)
        at.json.contains(s""""0":$rows""")
      }
      c.committed(at)
      at
    }
  }

  private def files(folder: Path): Map[String, String] = Using.resource(Files.walk(folder))(
    _.iterator.asScala.filter(Files.isRegularFile(_)).map(f => f.toString -> Files.readString(f, ISO_8859_1)).toMap
  )

  test("a checkpoint has no password, and a changed password is not a change of the metadata") {
    real.create("single", 1)
    real.write("single", 1, 0, 5)
    val first = run("hunter2", None, 5)
    real.write("single", 1, 5, 8)
    run("hunter3", Some(first), 8)
    val found = files(folder.resolve("kept"))
    assert(found.values.exists(_.contains(broker.servers)), found.keys)
    assert(found.filter { case (_, text) => text.contains("hunter") }.keys.isEmpty)
    assert(found.keys.count(_.contains("change-")) == 1, found.keys)
  }
}
