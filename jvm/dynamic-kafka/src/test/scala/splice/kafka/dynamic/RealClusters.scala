// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path}
import java.time.Clock

import scala.util.Using

import org.apache.spark.sql.types.StructType
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.broker.RealLog
import splice.source.options.SourceOptions
import splice.source.runtime.ProgressMetric
import splice.source.{EnumeratorContext, Position, ReadMode, Source, SourceProvider, SplitReader}
import splice.testkit.KafkaBroker
import splice.testkit.internal.broker.SharedKafka

/** Two real clusters, and queries over their streams with a changing metadata file. */
abstract private[dynamic] class RealClusters extends AnyFunSuite with BeforeAndAfterAll {

  protected def east: KafkaBroker = SharedKafka.east
  protected def west: KafkaBroker = RealClusters.west

  protected lazy val eastLog = new RealLog(east)
  protected lazy val westLog = new RealLog(west)
  protected lazy val folder  = Files.createTempDirectory("splice-dynamic")
  private val generations    = Iterator.from(1)

  override protected def afterAll(): Unit =
    Using.resource(Files.walk(folder))(_.sorted(java.util.Comparator.reverseOrder[Path]()).forEach(f =>
      Files.delete(f)
    ))

  /** Query over one stream, with a side log that remains between its runs. */
  final protected class Query(name: String, more: (String, String)*) {

    private val file               = folder.resolve(s"$name.yaml")
    private val log                = new MemorySideLog
    var position: Option[Position] = None
    var rows: Vector[Row]          = Vector.empty

    /** Publishes the topics of the stream, such as `east/topic` and `west/topic`. */
    def lies(topics: String*): Unit = publish("", topics: _*)

    /** Publishes the topics of the stream with a cutover. */
    def goesOver(cutover: String, topics: String*): Unit = publish(s"cutovers: {$name: {$cutover}}", topics: _*)

    /** Publishes a document with an additional section. */
    def publish(section: String, topics: String*): Unit = {
      val byCluster = topics.map(_.split("/")).groupMap(_(0))(_(1)).map { case (c, ts) =>
        s"$c: [${ts.mkString(", ")}]"
      }
      val text =
        s"""version: 1
           |generation: ${generations.next()}
           |clusters:
           |  east: {bootstrapServers: "${east.servers}"}
           |  west: {bootstrapServers: "${west.servers}"}
           |streams: {$name: {${byCluster.mkString(", ")}}}
           |$section
           |""".stripMargin
      val other = folder.resolve(s"$name.next")
      Files.writeString(other, text)
      val _ = Files.move(other, file, ATOMIC_MOVE)
    }

    private def source: Source[_ <: Position] = SourceProvider.create(SourceOptions(Map(
      "source"            -> "dynamicKafka",
      "streams"           -> name,
      "metadata.file"     -> file.toString,
      "startingOffsets"   -> "earliest",
      "discoveryInterval" -> "100ms"
    ) ++ more))

    /** Reads a first batch by another source. */
    def begin(other: Source[_ <: Position]): Unit = {
      val context = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "before")
      Using.resource(new Coordinator(other, context, 2, batchesToRetain = 100)) { c =>
        position = Some(c.advance(c.initial(), everything = false))
      }
    }

    /** Continues the query in a new run. */
    def run(use: Run => Unit): Unit = {
      val context = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, java.util.UUID.randomUUID().toString)
      val created = source
      Using.resource(new Coordinator(created, context, 2, batchesToRetain = 100)) { c =>
        val from = position.map(p => c.position(p.json)).getOrElse(c.initial())
        position = Some(from)
        use(new Run(this, created, c, context.run))
      }
    }
  }

  final protected class Run(query: Query, source: Source[_ <: Position], coordinator: Coordinator, name: String) {

    private def columns: StructType = StructType(source.schema.fields ++ source.metadataColumns.fields)

    /** Plans a batch. The position of the query changes only if the batch is read. */
    def plan(): Position = coordinator.advance(query.position.get, everything = false)

    /** Number of documents that were not applied in this run. */
    def rejections: Int = coordinator.figures(query.position.get)(ProgressMetric.MetadataRejections).toInt

    /** Clusters that a change waits for, from the progress of the query. */
    def waitsFor: Option[String] = coordinator.figures(query.position.get).get(ProgressMetric.Waiting)

    def read(from: Position, until: Position): Vector[Row] = {
      val tasks   = coordinator.tasks(from, until)
      val readers = coordinator.readers(columns, tasks)
      tasks.toVector.flatMap { task =>
        Using.resource(readers.rows(task)) { reader =>
          SplitReader.items(reader).map { row =>
            Row(
              row.getString(7),
              row.getString(8),
              row.getString(2),
              row.getInt(3),
              row.getLong(4),
              new String(row.getBinary(1))
            )
          }.toVector
        }
      }
    }

    /** Reads batches until the rows are complete. */
    def until(what: String)(enough: Vector[Row] => Boolean): Unit = eastLog.eventually(what) {
      val from  = query.position.get
      val until = plan()
      if (until != from) {
        query.rows ++= read(from, until)
        coordinator.committed(until)
        query.position = Some(until)
      }
      enough(query.rows)
    }
  }

  protected def values(rows: Vector[Row]): Seq[String] = rows.map(r => s"${r.cluster}/${r.topic}:${r.value}").sorted

  protected def wanted(topic: String, from: Int, until: Int): Seq[String] = (from until until).map(i => s"$topic:v$i")

  protected def assertRows(query: Query, all: Seq[String]*): Unit = assert(values(query.rows) == all.flatten.sorted)
}

private object RealClusters {

  // Tests kill and restart this broker. It ends with the JVM.
  private lazy val west = KafkaBroker.start()
}
