# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A Kafka of several brokers, as plain processes, each of which may die alone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from servers.kafka_node import ProcessNode
from servers.kafka_settings import new_cluster_id, one_of_many
from servers.kafka_topics import KafkaTopics
from servers.ports import free_ports
from servers.waiting import wait_for


class KafkaBrokers:
    """A cluster of several nodes, made on entering and gone on leaving."""

    def __init__(self, count: int = 3, heap: str = "384m") -> None:
        """Takes the number of nodes and the heap of each."""
        self._count, self._heap = count, heap

    def __enter__(self) -> KafkaBrokers:
        """Starts all nodes and waits until they are ready."""
        self._folder = Path(tempfile.mkdtemp(prefix="splice-kafka-"))
        self.nodes: list[ProcessNode] = []
        try:
            self._make()
            for node in self.nodes:
                node.start()
            wait_for("all brokers", lambda: len(self.topics.brokers()) == self._count)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends all nodes and removes their data."""
        for node in self.nodes:
            node.remove()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def bootstrap_servers(self) -> str:
        """Where clients begin, the same after a restart."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    @property
    def topics(self) -> KafkaTopics:
        """Makes, fills and looks at topics."""
        return KafkaTopics(self.bootstrap_servers)

    def kill(self, number: int) -> None:
        """Kills a broker, and waits until the others lead all that it led."""
        self.nodes[number].kill()
        topics = self.topics
        wait_for("other leaders", lambda: number not in topics.leaders())

    def start(self, number: int) -> None:
        """Brings a broker back with its data, and waits until it has all its copies again."""
        self.nodes[number].start()
        topics = self.topics
        wait_for("the broker's copies", lambda: topics.are_copied(self._count))

    def _make(self) -> None:
        found = free_ports(2 * self._count)
        ports = list(zip(found[::2], found[1::2], strict=True))
        cluster_id = new_cluster_id()
        for number, pair in enumerate(ports):
            folder = self._folder / str(number)
            folder.mkdir()
            settings = one_of_many(number, ports)
            self.nodes.append(ProcessNode(folder, cluster_id, settings, self._heap, ports=pair))
