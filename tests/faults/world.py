# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A broker that tests use directly and queries use through a proxy. Tests can kill the broker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.kafka.node import ProcessNode
from servers.kafka.settings import behind_a_proxy, new_cluster_id
from servers.kafka.topics import KafkaTopics
from servers.network.fault_proxy import FaultProxy
from servers.ports import free_ports
from servers.waiting import wait_for


class World:
    """A broker and its proxy."""

    def __init__(self, node: ProcessNode, proxy: FaultProxy, cluster_id: str, servers: str) -> None:
        """Create an instance with a stopped node and the bootstrap address of the proxy."""
        self._node, self._cluster_id = node, cluster_id
        self.proxy, self.servers = proxy, servers
        self.topics = KafkaTopics(f"127.0.0.1:{node.port}")

    def start(self) -> None:
        """Start the broker, and wait until the broker responds."""
        self._node.start()
        wait_for("Kafka", lambda: self.topics.cluster_id(timeout=1) == self._cluster_id)

    def kill(self) -> None:
        """Kill the broker."""
        self._node.kill()

    def kill_before(self, kind: int) -> threading.Event:
        """Kill the broker before the query's next request of a kind, and return an event."""
        dead = threading.Event()

        def act() -> None:
            self.kill()
            dead.set()

        self.proxy.before_next(kind, act)
        return dead


@contextmanager
def proxied_broker(folder: Path) -> Iterator[World]:
    """Start a broker with a second listener, which only a proxy reaches."""
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
