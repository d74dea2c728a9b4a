# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Settings of Kafka nodes, which are broker and controller."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

LOGGING = """rootLogger.level = WARN
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1} %m%n
"""


def new_cluster_id() -> str:
    """Return a new id in Kafka's format, without a leading '-', which tools parse as an option."""
    identifier = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return identifier if not identifier.startswith("-") else new_cluster_id()


def one_node(
    data: Path | str, port: int, controller: int, host: str = "127.0.0.1"
) -> dict[str, str]:
    """Return the settings of a single node with the address ``127.0.0.1:port``.

    Brokers do not create topics automatically. Topics keep their records, regardless of their age,
    unless the topic has other settings. Sessions, retention checks and the cleaner's pauses are
    short. Internal topics have one replica.
    """
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"BROKER://{host}:{port},CONTROLLER://{host}:{controller}",
        "advertised.listeners": f"BROKER://127.0.0.1:{port}",
        "inter.broker.listener.name": "BROKER",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(data),
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "3",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "3",
        "group.initial.rebalance.delay.ms": "0",
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        "log.retention.ms": "-1",
        "log.initial.task.delay.ms": "500",
        "log.retention.check.interval.ms": "1000",
        "log.cleaner.backoff.ms": "500",
    }


def with_listeners(
    settings: Mapping[str, str], listeners: Mapping[str, tuple[int, str]]
) -> dict[str, str]:
    """Add listeners by name, each with a port and a security protocol."""
    more = [f"{name}://127.0.0.1:{port}" for name, (port, _) in listeners.items()]
    protocols = [f"{name}:{protocol}" for name, (_, protocol) in listeners.items()]
    added = {
        "listeners": more,
        "advertised.listeners": more,
        "listener.security.protocol.map": protocols,
    }
    return dict(settings) | {key: ",".join([settings[key], *some]) for key, some in added.items()}


def behind_a_proxy(port: int, controller: int, proxied: int, proxy: int) -> dict[str, str]:
    """Return the settings of a node with a direct listener and a listener for a proxy.

    The proxy forwards one port to another port. Metadata for clients of the proxy has only its
    address.
    """
    return {
        "listeners": f"BROKER://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},"
        f"PROXY://127.0.0.1:{proxied}",
        "advertised.listeners": f"BROKER://127.0.0.1:{port},PROXY://127.0.0.1:{proxy}",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXY:PLAINTEXT",
    }


def one_of_many(node: int, ports: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Return the additional settings of a node of a cluster. Node numbers begin at 0.

    Each internal topic has a replica on every node. Node 1 is in rack ``rack-1``, and so on.
    Clients with a rack read from the replica in their rack (KIP-392).
    """
    copies = str(len(ports))
    voters = ",".join(f"{n}@127.0.0.1:{controller}" for n, (_, controller) in enumerate(ports))
    return {
        "node.id": str(node),
        "broker.rack": f"rack-{node}",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
        "controller.quorum.voters": voters,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        "share.coordinator.state.topic.replication.factor": copies,
    }


def with_zookeeper(node: int, port: int) -> dict[str, str]:
    """Return the additional settings of a broker that uses a ZooKeeper server at a port.

    Such a broker ignores the settings of a controller.
    """
    return {
        "broker.id": str(node),
        "zookeeper.connect": f"127.0.0.1:{port}",
        "zookeeper.session.timeout.ms": "3000",
    }


def as_properties(settings: Mapping[str, str]) -> str:
    """Return settings as the text of a properties file."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())
