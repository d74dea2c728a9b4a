# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A real Kafka for tests, demo and soak."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from servers.docker import engine_answers
from servers.kafka_container import ContainerNode
from servers.kafka_node import KafkaNode, ProcessNode
from servers.kafka_settings import new_cluster_id
from servers.kafka_topics import KafkaTopics
from servers.waiting import wait_for

ENVIRONMENT = "SPLICE_TEST_SERVERS"
"""Set to ``process`` to start servers as processes even where a Docker engine answers."""


class KafkaCluster:
    """A Kafka cluster of one node, made on entering and gone on leaving.

    ```python
    with KafkaCluster() as kafka:
        kafka.topics.create("orders", partitions=4)
    ```

    It is a container where a Docker engine answers, else a plain process.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        heap: str = "512m",
        cluster_id: str | None = None,
        listeners: Mapping[str, str] | None = None,
    ) -> None:
        """Takes settings for server.properties, the JVM's heap (of a process), and the id.

        With listeners beside the plain one, by name and security protocol, it is a process: their
        key stores are files of this machine.
        """
        self._listeners = dict(listeners or {})
        self._settings = dict(settings or {})
        self._heap = heap
        self.cluster_id = cluster_id or new_cluster_id()

    def __enter__(self) -> KafkaCluster:
        """Starts the cluster and waits until it is ready."""
        self._folder = Path(tempfile.mkdtemp(prefix="splice-kafka-"))
        try:
            self.node = self._make()
            self.start()
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
        """Ends the cluster and removes its data."""
        node: KafkaNode | None = getattr(self, "node", None)
        if node is not None:
            node.remove()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def bootstrap_servers(self) -> str:
        """Where clients begin, the same after a restart."""
        return f"127.0.0.1:{self.node.port}"

    @property
    def topics(self) -> KafkaTopics:
        """Makes, fills and looks at topics."""
        return KafkaTopics(self.bootstrap_servers)

    def start(self) -> None:
        """Starts it, or starts it again on the same port, and waits until it is ready."""
        self.node.start()
        wait_for("Kafka to be ready", self._ready)

    def stop(self) -> None:
        """Ends it in order (SIGTERM); ``start`` brings it back with its data."""
        self.node.stop()

    def kill(self) -> None:
        """Kills it (SIGKILL); ``start`` brings it back with its data."""
        self.node.kill()

    def _make(self) -> ProcessNode | ContainerNode:
        process = self._listeners or os.environ.get(ENVIRONMENT) == "process"
        if not process and engine_answers():
            try:
                return ContainerNode(self.cluster_id, self._settings)
            except Exception as error:
                warnings.warn(f"no container, so a process: {error}", stacklevel=2)
        return ProcessNode(
            self._folder, self.cluster_id, self._settings, self._heap, self._listeners
        )

    def _ready(self) -> bool:
        failure = self.node.failure()
        if failure is not None:
            raise RuntimeError(f"Kafka does not run: {failure}")
        # The id proves that it is this very server that answers on the port.
        return self.topics.cluster_id(timeout=1) == self.cluster_id
