# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka cluster with several brokers as processes, which tests can kill separately."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from servers.kafka.node import ProcessNode
from servers.kafka.settings import behind_a_proxy, new_cluster_id, one_of_many, with_zookeeper
from servers.kafka.topics import KafkaTopics
from servers.kafka.zookeeper import ZooKeeper
from servers.network.fault_proxy import FaultProxy
from servers.ports import free_ports
from servers.waiting import wait_for


class KafkaBrokers:
    """Kafka cluster of several nodes, which exists within a ``with`` block.

    With proxies, clients that bootstrap at ``proxied_servers`` use a separate proxy per node.
    """

    def __init__(
        self,
        count: int = 3,
        heap: str = "384m",
        proxied: bool = False,
        settings: Mapping[str, str] | None = None,
        old: bool = False,
    ) -> None:
        """Create a cluster with a number of nodes, their heap, optional proxies, and settings.

        The nodes of an old cluster are brokers of Kafka 2.6 with a ZooKeeper server.
        """
        self._count, self._heap, self._proxied, self.old = count, heap, proxied, old
        self._settings = dict(settings or {})

    def __enter__(self) -> KafkaBrokers:
        """Start all nodes and wait until they are ready."""
        self._folder = Path(tempfile.mkdtemp(prefix="splice-kafka-"))
        self._running = ExitStack()
        self.nodes: list[ProcessNode] = []
        self.proxies: list[FaultProxy] = []
        try:
            self._make()
            self.start_all()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all nodes and remove their data."""
        for node in self.nodes:
            node.remove()
        self._running.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def bootstrap_servers(self) -> str:
        """Return the bootstrap address, which is the same after a restart."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    @property
    def proxied_servers(self) -> str:
        """Return the bootstrap address of clients that use the proxies."""
        return ",".join(f"127.0.0.1:{proxy.port}" for proxy in self.proxies)

    @property
    def topics(self) -> KafkaTopics:
        """Return the topics of the cluster."""
        return KafkaTopics(self.bootstrap_servers)

    def kill(self, number: int) -> None:
        """Kill a broker, and wait until other brokers lead its partitions."""
        self.nodes[number].kill()
        topics = self.topics
        wait_for("other leaders", lambda: number not in topics.leaders())

    def start(self, number: int) -> None:
        """Start a broker again with its data, and wait until its replicas are in sync."""
        self.nodes[number].start()
        topics = self.topics
        wait_for("the broker's copies", lambda: topics.are_copied(self._count))

    def kill_all(self) -> None:
        """Kill all brokers."""
        for node in self.nodes:
            node.kill()

    def start_all(self) -> None:
        """Start all stopped brokers, and wait until all replicas are in sync."""
        self._start_ended()
        topics = self.topics
        wait_for("all brokers", lambda: self._are_up(topics))
        wait_for("all copies", lambda: topics.are_copied(self._count))

    def _are_up(self, topics: KafkaTopics) -> bool:
        # An old broker ends if it starts before the end of its previous session at ZooKeeper.
        if self.old:
            self._start_ended()
        return len(topics.brokers()) == self._count

    def _start_ended(self) -> None:
        for node in self.nodes:
            if node.failure() is not None:
                node.start()

    def cut(self) -> None:
        """Cut the connections of all proxies."""
        for proxy in self.proxies:
            proxy.cut()

    def heal(self) -> None:
        """End the faults of all proxies."""
        for proxy in self.proxies:
            proxy.heal()

    def _make(self) -> None:
        each = 4 if self._proxied else 2
        found = free_ports(each * self._count)
        of_nodes = [found[at : at + each] for at in range(0, len(found), each)]
        cluster_id, zookeeper = new_cluster_id(), None
        if self.old:
            zookeeper = self._running.enter_context(ZooKeeper(self._folder / "zookeeper")).port
        for number, ports in enumerate(of_nodes):
            folder = self._folder / str(number)
            folder.mkdir()
            broker, controller, *proxied = ports
            settings = one_of_many(number, [(mine[0], mine[1]) for mine in of_nodes])
            settings |= self._settings
            if proxied:
                settings |= behind_a_proxy(broker, controller, *proxied)
                proxy = FaultProxy(listen=proxied[1], upstream=proxied[0])
                self.proxies.append(self._running.enter_context(proxy))
            if zookeeper:
                settings |= with_zookeeper(number, zookeeper)
            pair = (broker, controller)
            self.nodes.append(
                ProcessNode(
                    folder, cluster_id, settings, self._heap, ports=pair, zookeeper=zookeeper
                )
            )
