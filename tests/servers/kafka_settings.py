# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Settings of a Kafka server with one node, which is broker and controller."""

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
    """Makes an id as Kafka writes it; a leading '-' would look like an option to its tools."""
    made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return made if not made.startswith("-") else new_cluster_id()


def one_node(
    data: Path | str, port: int, controller: int, host: str = "127.0.0.1"
) -> dict[str, str]:
    """Gives the settings for one node whose clients reach it at ``127.0.0.1:port``.

    Topics are made on request only and keep their records, however old, unless a topic's own
    settings say otherwise; sessions, retention checks and the cleaner's pauses are short; internal
    topics have no copy.
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
    """Adds listeners, each by its name, with a port and a security protocol."""
    more = [f"{name}://127.0.0.1:{port}" for name, (port, _) in listeners.items()]
    protocols = [f"{name}:{protocol}" for name, (_, protocol) in listeners.items()]
    added = {
        "listeners": more,
        "advertised.listeners": more,
        "listener.security.protocol.map": protocols,
    }
    return dict(settings) | {key: ",".join([settings[key], *some]) for key, some in added.items()}


def behind_a_proxy(port: int, controller: int, proxied: int, proxy: int) -> dict[str, str]:
    """Gives what a node has else that clients reach directly, or through a proxy.

    The proxy listens on one port and goes on to another, and whoever comes by it is told of no
    other way.
    """
    return {
        "listeners": f"BROKER://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},"
        f"PROXY://127.0.0.1:{proxied}",
        "advertised.listeners": f"BROKER://127.0.0.1:{port},PROXY://127.0.0.1:{proxy}",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXY:PLAINTEXT",
    }


def one_of_many(node: int, ports: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Gives what a node of several has else than the only one; nodes count from 0.

    Each topic of Kafka's own has a copy on every node. Node 1 stands in rack ``rack-1``, and so on;
    clients that say their rack are sent to the copy there (KIP-392).
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


def as_properties(settings: Mapping[str, str]) -> str:
    """Writes settings as a properties file."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())
