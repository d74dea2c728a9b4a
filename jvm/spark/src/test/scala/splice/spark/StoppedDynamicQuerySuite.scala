// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CopyOnWriteArrayList, CountDownLatch, Executors}

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, StreamingQueryException}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.Patient
import splice.testkit.{FreePort, KafkaBroker, KafkaTopics}

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** The end of a query over three clusters. One cluster responds, one accepts connections and never responds, and one
  * rejects connections.
  */
final class StoppedDynamicQuerySuite extends AnyFunSuite with WithSpark with Patient {

  private lazy val good = KafkaBroker.start()

  private val everywhere = "{s: {good: [orders], hanging: [orders], dead: [orders]}}"

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally good.close()

  /** A server that accepts connections and never responds. */
  final private class Hanging extends AutoCloseable {
    private val server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
    val accepted       = new CopyOnWriteArrayList[Socket]

    new Thread(() => while (Try(accepted.add(server.accept())).isSuccess) ()).start()

    val port: Int = server.getLocalPort

    override def close(): Unit = {
      server.close()
      accepted.forEach(_.close())
    }
  }

  /** The servers of a query. The metadata service does not respond while it hangs. */
  final private class World extends AutoCloseable {
    private val released = new CountDownLatch(1)
    private val threads  = Executors.newCachedThreadPool()
    private val server   = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    private val dead     = FreePort()

    @volatile var streams  = "{s: {good: [orders]}}"
    @volatile var hangs    = false
    private val generation = new AtomicInteger

    /** Requests that hang. */
    val held    = new AtomicInteger
    val cluster = new Hanging

    server.setExecutor(threads)
    server.createContext("/").setHandler(respond(_))
    server.start()

    private def respond(exchange: HttpExchange): Unit = {
      if (hangs) {
        held.incrementAndGet()
        released.await()
      }
      val bytes =
        s"""version: 1
           |generation: ${generation.incrementAndGet()}
           |clusters:
           |  good: {bootstrapServers: "${good.servers}"}
           |  hanging: {bootstrapServers: "127.0.0.1:${cluster.port}"}
           |  dead: {bootstrapServers: "127.0.0.1:$dead"}
           |streams: $streams
           |""".stripMargin.getBytes(UTF_8)
      exchange.sendResponseHeaders(200, bytes.length.toLong)
      Using.resource(exchange.getResponseBody)(_.write(bytes))
    }

    def start(more: (String, String)*): StreamingQuery = started(read(more).writeStream.format("noop"))

    /** Starts a query that calls a function with each batch. */
    def startWith(sink: (DataFrame, Long) => Unit)(more: (String, String)*): StreamingQuery =
      started(read(more).writeStream.foreachBatch(sink))

    private def read(more: Seq[(String, String)]): DataFrame = spark.readStream
      .format("splice")
      .options(Map(
        "source"            -> "dynamicKafka",
        "metadata"          -> "http",
        "metadata.url"      -> s"http://127.0.0.1:${server.getAddress.getPort}/",
        "streams"           -> "s",
        "startingOffsets"   -> "earliest",
        "discoveryInterval" -> "100ms",
        "clusterWait"       -> "200ms"
      ) ++ more)
      .load()

    private def started(writer: DataStreamWriter[Row]): StreamingQuery =
      writer.option("checkpointLocation", Files.createTempDirectory(folder, "checkpoint").toString).start()

    /** Open sockets of this process to the servers. */
    def sockets: Seq[String] = {
      val ports = Set(good.servers.split(":")(1).toInt, cluster.port, dead, server.getAddress.getPort)
      val own   = Using.resource(Files.list(Paths.get("/proc/self/fd")))(_.iterator.asScala.toSeq)
        .flatMap(fd => Try(Files.readSymbolicLink(fd).toString).toOption).toSet
      for {
        table <- Seq("tcp", "tcp6")
        line  <- Files.readAllLines(Paths.get(s"/proc/self/net/$table")).asScala.toSeq.drop(1)
        fields = line.trim.split("\\s+")
        if ports(Integer.parseInt(fields(2).split(":")(1), 16)) && own(s"socket:[${fields(9)}]")
      } yield line
    }

    override def close(): Unit = {
      released.countDown()
      server.stop(0)
      threads.shutdownNow()
      cluster.close()
    }
  }

  /** Runs a query, and checks that it leaves no thread and no socket. */
  private def world(use: World => Unit): Unit = {
    Using.resource(good.admin())(admin =>
      if (!admin.listTopics().names().get().contains("orders")) KafkaTopics.create(admin, "orders", 1)
    )
    Using.resource(new World) { world =>
      val before = threads
      use(world)
      eventually {
        // Java 17 ends the thread of an HTTP client after no object refers to the client.
        System.gc()
        assert((threads -- before).map(_.getName).filter(name => ours.exists(name.contains)).isEmpty)
        assert(world.sockets.isEmpty)
      }
    }
  }

  private val ours = Seq("splice", "kafka", "HttpClient")

  private def threads: Set[Thread] = Thread.getAllStackTraces.keySet.asScala.toSet

  private def stop(query: StreamingQuery): Unit = {
    val (_, duration) = Patient.timed(query.stop())
    assert(duration.compareTo(Duration.ofSeconds(5)) < 0)
  }

  private def failed(query: StreamingQuery): String =
    intercept[StreamingQueryException](query.awaitTermination(60000)).getMessage

  test("a query that reads stops within 5 seconds, and leaves no thread and no socket") {
    world { w =>
      val query = w.start()
      eventually(assert(query.lastProgress != null))
      w.streams = everywhere
      eventually(assert(query.lastProgress.sources.head.metrics.get("clusters").contains("dead")))
      eventually(assert(!w.cluster.accepted.isEmpty))
      w.hangs = true
      eventually(assert(w.held.get > 0))
      stop(query)
    }
  }

  test("a query that waits for clusters at its start stops within 5 seconds, and leaves no thread and no socket") {
    world { w =>
      w.streams = everywhere
      val query = w.start()
      eventually(assert(!w.cluster.accepted.isEmpty))
      stop(query)
    }
  }

  test("a query that waits for its first document stops within 5 seconds, and leaves no thread and no socket") {
    world { w =>
      w.hangs = true
      val query = w.start()
      eventually(assert(w.held.get > 0))
      stop(query)
    }
  }

  test("a query that waits for topics of a single cluster stops within 5 seconds, and leaves no thread and no socket") {
    world { w =>
      val query = w.start("metadata" -> "singleCluster", "kafka.bootstrap.servers" -> s"127.0.0.1:${w.cluster.port}")
      eventually(assert(!w.cluster.accepted.isEmpty))
      stop(query)
    }
  }

  test("a query that fails because clusters are unavailable leaves no thread and no socket") {
    world { w =>
      val query = w.start("onClusterUnavailable" -> "fail", "clusterTimeout" -> "2s")
      eventually(assert(query.lastProgress != null))
      w.streams = everywhere
      assert(failed(query).contains("SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE"))
    }
  }

  test("a query that fails at one cluster while another does not respond leaves no thread and no socket") {
    world { w =>
      w.streams = "{s: {good: [absent], hanging: [orders]}}"
      assert(failed(w.start()).contains("SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"))
      assert(!w.cluster.accepted.isEmpty)
    }
  }

  test("a query whose first document is rejected leaves no thread and no socket") {
    world { w =>
      w.streams = "{s: {good: [orders]}, t: {good: [orders]}}"
      assert(failed(w.start("streams" -> "s,t")).contains("SPLICE_METADATA.TOPIC_IN_SEVERAL_STREAMS"))
    }
  }

  test("a query whose commits to a group have no response stops within 5 seconds, and leaves no thread and no socket") {
    world { w =>
      val settings = Map[String, Object]("bootstrap.servers" -> good.servers).asJava
      Using.resource(new KafkaProducer[String, String](settings, new StringSerializer, new StringSerializer)) {
        producer =>
          producer.send(new ProducerRecord[String, String]("orders", "1")).get()
      }
      // Spark reports the commit of this batch when the next batch begins, or when the query stops.
      val sink: (DataFrame, Long) => Unit = (rows, _) => if (rows.collect().nonEmpty) good.suspend()
      val query                           = w.startWith(sink)("commitToGroup" -> "true", "kafka.group.id" -> "stopped")
      try {
        eventually(assert(query.lastProgress != null))
        stop(query)
      } finally good.resume()
    }
  }
}
