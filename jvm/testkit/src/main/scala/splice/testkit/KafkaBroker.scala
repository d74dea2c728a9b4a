// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit
import java.util.{Comparator, Properties, UUID}

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.common.Uuid

/** Single-node Kafka server in a separate process. Tests can stop, kill and restart the server on its port.
  *
  * The system property `splice.kafka.server` sets the folder of the Kafka jars. Not thread-safe.
  */
final class KafkaBroker private (folder: Path, more: Map[String, String], role: KafkaBroker.Role)
    extends AutoCloseable {

  import KafkaBroker.{Alone, Guarded, Joined}

  private val ports = Iterator.continually(FreePort()).distinct.take(3).toIndexedSeq
  private val port  = ports(0)
  private val login = ports(1)

  private val controller: Int = role match {
    case Joined(first, _) => first.controller
    case _                => ports(2)
  }

  private var process: Option[Process] = None

  private val hook = new Thread(() => kill())

  /** Bootstrap servers for clients without login. */
  val servers: String = s"127.0.0.1:$port"

  /** Bootstrap servers for clients that log in as a user. */
  def loginServers: String = s"127.0.0.1:$login"

  private var id = role match {
    case Joined(first, _) => first.clusterId
    case _                => KafkaBroker.newId()
  }

  /** Cluster id. */
  def clusterId: String = id

  /** Starts or restarts the server, and waits until the server responds. */
  def start(): Unit = {
    process = Some(launch("kafka.Kafka", config.toString).start())
    val responses = Iterator.continually(response()).take(KafkaBroker.Tries).find(_.nonEmpty)
    if (responses.isEmpty) throw new IllegalStateException(s"Kafka does not respond:\n${log()}")
  }

  /** Shuts the server down. */
  def stop(): Unit = process.foreach { running =>
    running.destroy()
    if (!running.waitFor(20, TimeUnit.SECONDS)) kill()
  }

  /** Kills the server, as the loss of its machine would. */
  def kill(): Unit = process.foreach(_.destroyForcibly().waitFor())

  /** Suspends the server. Its connections remain open, and no request has a response until [[resume]]. */
  def suspend(): Unit = signal("STOP")

  def resume(): Unit = signal("CONT")

  private def signal(name: String): Unit = process.foreach { running =>
    val code = new ProcessBuilder("kill", s"-$name", running.pid.toString).start().waitFor()
    if (code != 0) throw new IllegalStateException(s"the signal $name failed with code $code")
  }

  /** Kills the server, and starts a new cluster with another id at the same address. */
  def replace(): Unit = {
    kill()
    remove(folder.resolve("data"))
    id = KafkaBroker.newId()
    format()
    start()
  }

  /** Creates an admin client. The caller closes the client. */
  def admin(): Admin = Admin.create(Map[String, Object]("bootstrap.servers" -> servers).asJava)

  /** First segment file of a partition, for tests that corrupt it. */
  def logFile(topic: String, partition: Int): Path =
    folder.resolve("data").resolve(s"$topic-$partition").resolve("00000000000000000000.log")

  override def close(): Unit = {
    stop()
    val _ = Try(Runtime.getRuntime.removeShutdownHook(hook))
    remove(folder)
  }

  private def remove(tree: Path): Unit =
    Using.resource(Files.walk(tree))(_.sorted(Comparator.reverseOrder[Path]()).forEach(f => Files.delete(f)))

  private def config: Path = folder.resolve("server.properties")

  private def response(): Option[String] = {
    if (process.forall(!_.isAlive)) throw new IllegalStateException(s"Kafka ended:\n${log()}")
    val settings =
      Map[String, Object](
        "bootstrap.servers"      -> servers,
        "default.api.timeout.ms" -> "2000",
        "request.timeout.ms"     -> "1000"
      )
    Using.resource(Admin.create(settings.asJava))(client => Try(client.describeCluster().clusterId().get()).toOption)
  }

  private def format(): Unit = {
    Files.writeString(folder.resolve("log4j2.properties"), KafkaBroker.Logging)
    val settings = new Properties()
    val basic    = KafkaBroker.settings(folder.resolve("data"), port, controller)
    val all      =
      (role match {
        case Alone           => basic
        case Guarded(users)  => KafkaBroker.guarded(basic, login, users)
        case Joined(_, node) => KafkaBroker.joined(basic, port, node)
      }) ++ more
    all.foreach { case (k, v) => settings.setProperty(k, v) }
    Using.resource(Files.newBufferedWriter(config))(settings.store(_, "one node"))
    val done = launch("kafka.tools.StorageTool", "format", "-t", clusterId, "-c", config.toString).start().waitFor()
    if (done != 0) throw new IllegalStateException(s"Kafka's storage could not be formatted:\n${log()}")
  }

  private def launch(main: String, arguments: String*): ProcessBuilder = {
    val program   = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val classPath = s"$folder${java.io.File.pathSeparator}${KafkaBroker.jars}/*"
    val jvm       = Seq("-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData") ++ KafkaBroker.compiler
    val command   = Seq(program) ++ jvm ++ Seq("-cp", classPath, main) ++ arguments
    new ProcessBuilder(command.asJava)
      .redirectErrorStream(true)
      .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("kafka.log").toFile))
  }

  private def log(): String = Try(Files.readString(folder.resolve("kafka.log"))).getOrElse("no log")
}

object KafkaBroker {

  private val Tries = 30

  private val Logging =
    """rootLogger.level = WARN
      |rootLogger.appenderRef.out.ref = out
      |appender.out.type = Console
      |appender.out.name = out
      |appender.out.layout.type = PatternLayout
      |appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1} %m%n
      |""".stripMargin

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

  private def guarded(basic: Map[String, String], port: Int, users: Map[String, String]): Map[String, String] = {
    def and(key: String, more: String) = key -> s"${basic(key)},$more"
    val line = users.map { case (name, password) => s"""user_$name="$password"""" }.mkString(" ")
    basic ++ Map(
      and("listeners", s"LOGIN://127.0.0.1:$port"),
      and("advertised.listeners", s"LOGIN://127.0.0.1:$port"),
      and("listener.security.protocol.map", "LOGIN:SASL_PLAINTEXT"),
      "listener.name.login.sasl.enabled.mechanisms" -> "PLAIN",
      "listener.name.login.plain.sasl.jaas.config"  ->
        s"org.apache.kafka.common.security.plain.PlainLoginModule required $line;",
      "authorizer.class.name" -> "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "super.users"           -> "User:ANONYMOUS"
    )
  }

  private def joined(basic: Map[String, String], port: Int, node: Int): Map[String, String] = basic ++ Map(
    "process.roles" -> "broker",
    "node.id"       -> node.toString,
    "listeners"     -> s"BROKER://127.0.0.1:$port"
  )

  private def newId(): String = Iterator.continually(Uuid.randomUuid().toString).find(!_.startsWith("-")).mkString

  private def jars: String = Option(System.getProperty("splice.kafka.server"))
    .getOrElse(throw new IllegalStateException(
      "the property splice.kafka.server does not specify the folder of Kafka's jars"
    ))

  // A short test spends most of its time on the start of the server. C1 compilation shortens this start. A benchmark
  // needs C2 for throughput.
  private def compiler: Option[String] =
    Option.when(java.lang.Boolean.getBoolean("splice.kafka.server.quick"))("-XX:TieredStopAtLevel=1")

  private def settings(data: Path, port: Int, controller: Int): Map[String, String] = Map(
    "process.roles"                            -> "broker,controller",
    "node.id"                                  -> "1",
    "controller.quorum.voters"                 -> s"1@127.0.0.1:$controller",
    "listeners"                                -> s"BROKER://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller",
    "advertised.listeners"                     -> s"BROKER://127.0.0.1:$port",
    "inter.broker.listener.name"               -> "BROKER",
    "controller.listener.names"                -> "CONTROLLER",
    "listener.security.protocol.map"           -> "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "log.dirs"                                 -> data.toString,
    "auto.create.topics.enable"                -> "false",
    "offsets.topic.replication.factor"         -> "1",
    "offsets.topic.num.partitions"             -> "1",
    "transaction.state.log.replication.factor" -> "1",
    "transaction.state.log.min.isr"            -> "1",
    "transaction.state.log.num.partitions"     -> "1",
    "share.coordinator.state.topic.replication.factor" -> "1",
    "share.coordinator.state.topic.min.isr"            -> "1",
    "group.initial.rebalance.delay.ms"                 -> "0",
    "broker.session.timeout.ms"                        -> "3000",
    "broker.heartbeat.interval.ms"                     -> "500",
    "log.initial.task.delay.ms"                        -> "500",
    "log.cleaner.backoff.ms"                           -> "200"
  )
}
