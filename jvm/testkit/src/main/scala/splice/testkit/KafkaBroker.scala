// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.concurrent.locks.LockSupport
import java.util.{Comparator, Properties, UUID}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.clients.admin.Admin

import splice.testkit.internal.broker.{BrokerSettings, FormattedStorage, ServerJvm}

/** Single-node Kafka server in a separate process. Tests can stop, kill and restart the server on its port.
  *
  * The system property `splice.kafka.server` sets the folder of the Kafka jars. The optional property
  * `splice.class.data` sets a folder for files that shorten later starts. Not thread-safe.
  */
final class KafkaBroker private (folder: Path, more: Map[String, String], role: KafkaBroker.Role)
    extends AutoCloseable {

  import KafkaBroker.{Alone, Guarded, Joined}

  private var port  = FreePort()
  private val login = FreePort()

  private val controller: Int = role match {
    case Joined(first, _) => first.controller
    case _                => FreePort()
  }

  private var server: Option[ServerJvm] = None

  private val hook = new Thread(() => end())

  /** Bootstrap servers for clients without login. */
  def servers: String = s"127.0.0.1:$port"

  /** Bootstrap servers for clients that log in as a user. */
  def loginServers: String = s"127.0.0.1:$login"

  private var id = role match {
    case Joined(first, _) => first.clusterId
    case _                => FormattedStorage.newId()
  }

  /** Cluster id. */
  def clusterId: String = id

  /** Starts or restarts the server, and waits until the server responds. */
  def start(): Unit = {
    server = Some(ServerJvm.start(folder, config))
    awaitResponse()
  }

  /** Shuts the server down. */
  def stop(): Unit = server.foreach(_.stop())

  /** Kills the server, as the loss of its machine would. */
  def kill(): Unit = server.foreach(_.kill())

  /** Suspends the server. Its connections remain open, and no request has a response until [[resume]]. */
  def suspend(): Unit = server.foreach(_.signal("STOP"))

  def resume(): Unit = server.foreach(_.signal("CONT"))

  /** Kills the server, and starts a new cluster with another id at the same address. */
  def replace(): Unit = {
    kill()
    remove(data)
    id = FormattedStorage.newId()
    format()
    start()
  }

  /** Restarts the server on another port. */
  def move(): Unit = {
    stop()
    port = FreePort()
    val _ = configure()
    start()
  }

  /** Creates an admin client. The caller closes the client. */
  def admin(): Admin = Admin.create(Map[String, Object]("bootstrap.servers" -> servers).asJava)

  /** First segment file of a partition, for tests that corrupt it. */
  def logFile(topic: String, partition: Int): Path =
    data.resolve(s"$topic-$partition").resolve("00000000000000000000.log")

  override def close(): Unit = {
    end()
    val _ = Try(Runtime.getRuntime.removeShutdownHook(hook))
  }

  private def end(): Unit = {
    server.foreach(_.end())
    remove(folder)
  }

  private def remove(tree: Path): Unit =
    Using.resource(Files.walk(tree))(_.sorted(Comparator.reverseOrder[Path]()).forEach(f => Files.delete(f)))

  private def config: Path = folder.resolve("server.properties")

  private def data: Path = folder.resolve("data")

  private def awaitResponse(): Unit = {
    val settings = Map[String, Object](
      "bootstrap.servers"        -> servers,
      "default.api.timeout.ms"   -> KafkaBroker.Patience.toMillis.toString,
      "request.timeout.ms"       -> "1000",
      "reconnect.backoff.max.ms" -> "50"
    )
    Using.resource(Admin.create(settings.asJava)) { client =>
      val response               = client.describeCluster().clusterId()
      @tailrec def await(): Unit = if (!response.isDone) {
        if (server.forall(!_.isRunning)) throw new IllegalStateException(s"Kafka ended:\n${log()}")
        LockSupport.parkNanos(KafkaBroker.Pause.toNanos)
        await()
      }
      await()
      if (Try(response.get()).isFailure) throw new IllegalStateException(s"Kafka does not respond:\n${log()}")
    }
  }

  private def configure(): Map[String, String] = {
    val settings = new Properties()
    val basic    = BrokerSettings.alone(data, port, controller)
    val all      =
      (role match {
        case Alone           => basic
        case Guarded(users)  => BrokerSettings.guarded(basic, login, users)
        case Joined(_, node) => BrokerSettings.joined(basic, port, node)
      }) ++ more
    all.foreach { case (k, v) => settings.setProperty(k, v) }
    Using.resource(Files.newBufferedWriter(config))(settings.store(_, "one node"))
    all
  }

  private def format(): Unit = {
    val all = configure()
    FormattedStorage.create(data, clusterId, all("node.id").toInt) {
      val code =
        ServerJvm.run(folder, "kafka.tools.StorageTool", "format", "-t", clusterId, "-c", config.toString)
      if (code != 0) throw new IllegalStateException(s"Kafka's storage could not be formatted:\n${log()}")
    }
  }

  private def log(): String = Try(Files.readString(folder.resolve("kafka.log"))).getOrElse("no log")
}

object KafkaBroker {

  // A start takes a few seconds. Other processes may use all processors for some time.
  private val Patience = Duration.ofMinutes(2)
  private val Pause    = Duration.ofMillis(20)

  /** Starts a server with a new cluster, and waits until the server responds.
    *
    * @param more
    *   broker settings that override the defaults of the tests
    */
  def start(more: (String, String)*): KafkaBroker = start(Alone, more)

  /** Starts a server with ACLs and two listeners. Clients of [[KafkaBroker.servers]] have all permissions. Clients of
    * [[KafkaBroker.loginServers]] log in (SASL_PLAINTEXT, PLAIN) and have the permissions of their user.
    *
    * @param users
    *   names and passwords of users
    */
  def startGuarded(users: Map[String, String], more: (String, String)*): KafkaBroker = start(Guarded(users), more)

  /** Starts a second broker in the cluster of `first`, and waits until the broker responds. The broker `first`
    * remains the controller.
    */
  def join(first: KafkaBroker, node: Int): KafkaBroker = start(Joined(first, node), Nil)

  private def start(role: Role, more: Seq[(String, String)]): KafkaBroker = {
    val broker = new KafkaBroker(Files.createTempDirectory(s"splice-kafka-${UUID.randomUUID()}"), more.toMap, role)
    Runtime.getRuntime.addShutdownHook(broker.hook)
    broker.format()
    broker.start()
    broker
  }

  sealed private trait Role
  private case object Alone                                      extends Role
  final private case class Guarded(users: Map[String, String])   extends Role
  final private case class Joined(first: KafkaBroker, node: Int) extends Role
}
