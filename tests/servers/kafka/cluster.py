# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka cluster for tests, demo and soak."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

from servers.docker import engine_answers
from servers.kafka.container import ContainerNode
from servers.kafka.node import KafkaNode, ProcessNode
from servers.kafka.settings import new_cluster_id
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for

ENVIRONMENT = "SPLICE_TEST_SERVERS"
"""Environment variable. ``process`` starts servers as processes although Docker is available."""


class KafkaCluster:
    """Kafka cluster of one node, which exists within a ``with`` block.

    ```python
    with KafkaCluster() as kafka:
        kafka.topics.create("orders", partitions=4)
    ```

    The node is a container if a Docker engine is available, otherwise a process.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        heap: str = "512m",
        cluster_id: str | None = None,
        listeners: Mapping[str, str] | None = None,
    ) -> None:
        """Create a cluster with server properties, the JVM's heap (of a process), and the id.

        With additional listeners, by name and security protocol, the node is a process, because
        their key stores are local files.
        """
        self._listeners = dict(listeners or {})
        self._settings = dict(settings or {})
        self._heap = heap
        self.cluster_id = cluster_id or new_cluster_id()

    def __enter__(self) -> KafkaCluster:
        """Start the cluster and wait until the cluster is ready."""
        self._folder = Path(tempfile.mkdtemp(prefix="splice-kafka-"))
        try:
            self.node = self._make()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the cluster and remove its data."""
        node: KafkaNode | None = getattr(self, "node", None)
        if node is not None:
            node.remove()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def bootstrap_servers(self) -> str:
        """Return the bootstrap address, which is the same after a restart."""
        return f"127.0.0.1:{self.node.port}"

    @property
    def topics(self) -> KafkaTopics:
        """Return the topics of the cluster."""
        return KafkaTopics(self.bootstrap_servers)

    def start(self) -> None:
        """Start the node, on the same port after a stop, and wait until the node is ready."""
        self.node.start()
        wait_for("Kafka to be ready", self._ready)

    def stop(self) -> None:
        """Stop the node (SIGTERM). ``start`` starts it again with its data."""
        self.node.stop()

    def kill(self) -> None:
        """Kill the node (SIGKILL). ``start`` starts it again with its data."""
        self.node.kill()

    def _make(self) -> ProcessNode | ContainerNode:
        process = self._listeners or os.environ.get(ENVIRONMENT) == "process"
        if not process and engine_answers():
            try:
                return ContainerNode(self.cluster_id, self._settings)
            except Exception as error:
                warnings.warn(f"starting a process instead of a container: {error}", stacklevel=2)
        return ProcessNode(
            self._folder, self.cluster_id, self._settings, self._heap, self._listeners
        )

    def _ready(self) -> bool:
        failure = self.node.failure()
        if failure is not None:
            raise RuntimeError(f"Kafka does not run: {failure}")
        # The id proves that this server, and no other, responds on the port.
        return self.topics.cluster_id(timeout=1) == self.cluster_id
