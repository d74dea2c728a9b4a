# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A broker that tests reach directly and queries through a proxy; it dies on request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.fault_proxy import FaultProxy
from servers.kafka_node import ProcessNode
from servers.kafka_settings import behind_a_proxy, new_cluster_id
from servers.kafka_topics import KafkaTopics
from servers.ports import free_ports
from servers.waiting import wait_for


class World:
    """A broker, and the proxy before it."""

    def __init__(self, node: ProcessNode, proxy: FaultProxy, cluster_id: str, servers: str) -> None:
        """Takes a node that is not started yet, and what clients of the proxy begin with."""
        self._node, self._cluster_id = node, cluster_id
        self.proxy, self.servers = proxy, servers
        self.topics = KafkaTopics(f"127.0.0.1:{node.port}")

    def start(self) -> None:
        """Starts the broker, or starts it again, and waits until it answers."""
        self._node.start()
        wait_for("Kafka", lambda: self.topics.cluster_id(timeout=1) == self._cluster_id)

    def kill(self) -> None:
        """Kills the broker."""
        self._node.kill()

    def kill_before(self, kind: int) -> threading.Event:
        """Kills the broker before the query's next request of a kind reaches it; gives a sign."""
        dead = threading.Event()

        def act() -> None:
            self.kill()
            dead.set()

        self.proxy.before_next(kind, act)
        return dead


@contextmanager
def proxied_broker(folder: Path) -> Iterator[World]:
    """Starts a broker of which some clients know the proxy only."""
    direct, controller, proxied, listen = free_ports(4)
    cluster_id = new_cluster_id()
    settings = behind_a_proxy(direct, controller, proxied, listen)
    node = ProcessNode(folder, cluster_id, settings, "512m", ports=(direct, controller))
    try:
        with FaultProxy(listen, proxied) as proxy:
            world = World(node, proxy, cluster_id, f"127.0.0.1:{listen}")
            world.start()
            yield world
    finally:
        node.remove()
