# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Three clusters, and their entries in a metadata document."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from servers.kafka.brokers import KafkaBrokers
from servers.kafka.cluster import KafkaCluster
from servers.kafka.topics import KafkaTopics
from servers.logins.login_kafka import LoginKafka

NAMES = ("east", "west", "north")


class Clusters:
    """Three clusters, which exist within a ``with`` block.

    East has three brokers, each with a proxy. West requires a login. North is a plain cluster.
    """

    def __init__(self, east: Mapping[str, str] | None = None) -> None:
        """Create the clusters with settings of the brokers of east."""
        self._settings = east

    def __enter__(self) -> Clusters:
        """Start the clusters."""
        with ExitStack() as started:
            self.east = started.enter_context(KafkaBrokers(proxied=True, settings=self._settings))
            self.west = started.enter_context(LoginKafka(heap="384m"))
            self.north = started.enter_context(KafkaCluster(heap="384m"))
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the clusters and remove their data."""
        self._started.close()

    def topics(self, name: str) -> KafkaTopics:
        """Return the topics of a cluster, without proxies and login."""
        return self._of(name).topics

    def create(self, name: str, topic: str, partitions: int = 2, **config: str) -> None:
        """Create a topic on a cluster, with a replica on each broker."""
        self.topics(name).create(topic, partitions, config, 3 if name == "east" else 1)

    def reached(self, name: str, direct: bool = False) -> dict[str, Any]:
        """Return the entry of a cluster in a metadata document.

        Args:
            name: Name of the cluster.
            direct: True for addresses of the first cluster without its proxies.
        """
        if name == "west":
            servers, credentials = self.west.login_servers, self.west.credentials
            return {"bootstrapServers": servers, "credentials": credentials}
        proxied = name == "east" and not direct
        servers = self.east.proxied_servers if proxied else self._of(name).bootstrap_servers
        return {"bootstrapServers": servers}

    def kill(self, name: str) -> None:
        """Kill all brokers of a cluster."""
        if name == "east":
            self.east.kill_all()
        else:
            self._single(name).kill()

    def start(self, name: str) -> None:
        """Start a cluster again, if the cluster does not run."""
        if name == "east":
            self.east.start_all()
        elif self._single(name).node.failure() is not None:
            self._single(name).start()

    def _of(self, name: str) -> KafkaBrokers | KafkaCluster:
        return self.east if name == "east" else self._single(name)

    def _single(self, name: str) -> KafkaCluster:
        return {"west": self.west, "north": self.north}[name]
