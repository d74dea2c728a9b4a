# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Three clusters, and how a metadata document says that they are reached."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any

from servers.kafka import KafkaCluster
from servers.kafka_brokers import KafkaBrokers
from servers.kafka_topics import KafkaTopics
from servers.login_kafka import LoginKafka

NAMES = ("east", "west", "north")


class Clusters:
    """Three clusters, made on entering and gone on leaving.

    East has three brokers behind proxies; clients of west log in; north has nothing special.
    """

    def __enter__(self) -> Clusters:
        """Starts them."""
        with ExitStack() as started:
            self.east = started.enter_context(KafkaBrokers(proxied=True))
            self.west = started.enter_context(LoginKafka(heap="384m"))
            self.north = started.enter_context(KafkaCluster(heap="384m"))
            self._started = started.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends them and removes their data."""
        self._started.__exit__(kind, error, trace)

    def topics(self, name: str) -> KafkaTopics:
        """Makes and fills topics of one, past proxies and without a login."""
        return self._of(name).topics

    def create(self, name: str, topic: str, partitions: int = 2, **config: str) -> None:
        """Makes a topic on one, with a copy on each of its brokers."""
        self.topics(name).create(topic, partitions, config, 3 if name == "east" else 1)

    def reached(self, name: str, direct: bool = False) -> dict[str, Any]:
        """Gives what a metadata document says of one.

        Args:
            name: Of the cluster.
            direct: Whether the first is reached past its proxies.
        """
        if name == "west":
            return {"bootstrapServers": self.west.login_servers, "properties": self.west.client}
        proxied = name == "east" and not direct
        servers = self.east.proxied_servers if proxied else self._of(name).bootstrap_servers
        return {"bootstrapServers": servers}

    def kill(self, name: str) -> None:
        """Kills all brokers of one."""
        if name == "east":
            self.east.kill_all()
        else:
            self._single(name).kill()

    def start(self, name: str) -> None:
        """Brings one back, if it is not there."""
        if name == "east":
            self.east.start_all()
        elif self._single(name).node.failure() is not None:
            self._single(name).start()

    def _of(self, name: str) -> KafkaBrokers | KafkaCluster:
        return self.east if name == "east" else self._single(name)

    def _single(self, name: str) -> KafkaCluster:
        return {"west": self.west, "north": self.north}[name]
