// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.broker

import java.nio.file.Path

/** Settings of a node that is broker and controller. */
private[testkit] object BrokerSettings {

  def alone(data: Path, port: Int, controller: Int): Map[String, String] = Map(
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

  /** Adds ACLs, and a listener for users with passwords. */
  def guarded(basic: Map[String, String], port: Int, users: Map[String, String]): Map[String, String] = {
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

  /** Changes the settings of a first node to the settings of another node of the cluster. */
  def joined(basic: Map[String, String], port: Int, node: Int): Map[String, String] = basic ++ Map(
    "process.roles" -> "broker",
    "node.id"       -> node.toString,
    "listeners"     -> s"BROKER://127.0.0.1:$port"
  )
}
