# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka node that can be stopped, killed and started again on the same port."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from servers.class_data import java, options
from servers.kafka.jars import class_path, old_class_path
from servers.kafka.producer import Record
from servers.kafka.settings import (
    LOGGING,
    as_properties,
    new_cluster_id,
    one_node,
    with_listeners,
)
from servers.kafka.topics import KafkaTopics
from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for


class KafkaNode(Protocol):
    """Interface of the node of a cluster."""

    port: int
    ports: dict[str, int]

    def start(self) -> None:
        """Start the node, without waiting until the node is ready."""

    def stop(self) -> None:
        """Stop the node (SIGTERM)."""

    def kill(self) -> None:
        """Kill the node (SIGKILL)."""

    def failure(self) -> str | None:
        """Return the reason of the end of the node; None while it runs."""

    def remove(self) -> None:
        """Stop the node. Only its folder remains."""


class ProcessNode:
    """Node as a JVM process."""

    def __init__(
        self,
        folder: Path,
        cluster_id: str,
        settings: Mapping[str, str],
        heap: str,
        listeners: Mapping[str, str] | None = None,
        ports: tuple[int, int] | None = None,
        training: Sequence[str] = (),
        zookeeper: int | None = None,
    ) -> None:
        """Format the storage in a folder.

        Additional listeners have a name and a security protocol. By default the ports of broker and
        controller are free ports. The JVM of the node loads its classes from an archive, unless it
        runs with the options that create the archive. A node with the port of a ZooKeeper server
        is a broker of Kafka 2.6, whose storage has no format.
        """
        protocols = dict(listeners or {})
        broker, control, *more = free_ports(2 + len(protocols))
        self.port, controller = ports or (broker, control)
        self.ports = dict(zip(protocols, more, strict=True))
        self._folder = folder
        self.data = folder / "data"
        self._process: ServerProcess | None = None
        (folder / "log4j2.properties").write_text(LOGGING)
        properties = folder / "server.properties"
        properties.write_text(
            as_properties(
                with_listeners(
                    one_node(self.data, self.port, controller),
                    {name: (self.ports[name], protocol) for name, protocol in protocols.items()},
                )
                | dict(settings)
            )
        )
        # Most of a short run is the start, which a simple compiler and collector shorten.
        quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
        logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
        jars = class_path() if zookeeper is None else old_class_path()
        command = [java(), f"-Xmx{heap}", *quick, logging, "-cp", jars]
        archived = [] if training or zookeeper else _class_data()
        self._run = [command[0], *(training or archived), *command[1:], "kafka.Kafka"]
        if zookeeper:
            return
        format_storage = ["kafka.tools.StorageTool", "format", "-t", cluster_id]
        done = subprocess.run(
            [command[0], *archived, *command[1:], *format_storage, "-c", str(properties)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(
                f"Kafka's storage could not be formatted: {done.stdout}{done.stderr}"
            )

    def start(self) -> None:
        """Start the node, without waiting until the node is ready."""
        self._process = ServerProcess(
            [*self._run, str(self._folder / "server.properties")],
            self._folder / "kafka.log",
        )

    def stop(self, patience: float = 30) -> None:
        """Stop the node (SIGTERM), and kill the node after `patience` seconds."""
        if self._process:
            self._process.terminate(patience)

    def kill(self) -> None:
        """Kill the node (SIGKILL)."""
        if self._process:
            self._process.kill()

    def freeze(self) -> None:
        """Suspend the process (SIGSTOP): connections stay open without responses."""
        os.kill(self._running().pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume the process (SIGCONT)."""
        os.kill(self._running().pid, signal.SIGCONT)

    def failure(self) -> str | None:
        """Return the reason of the end of the node; None while it runs."""
        if self._process is None:
            return "the node was never started"
        code = self._process.exit_code
        return None if code is None else f"exit code {code}:\n{self._process.tail()}"

    def remove(self) -> None:
        """Stop the node. Only its folder remains."""
        self.kill()

    def _running(self) -> ServerProcess:
        if self._process is None or self._process.exit_code is not None:
            raise RuntimeError(f"the Kafka node does not run: {self.failure()}")
        return self._process


@functools.cache
def _class_data() -> Sequence[str]:
    found = class_path()
    jars = Path(found[:-1]).glob("*.jar") if found.endswith("*") else found.split(os.pathsep)
    return options("kafka", sorted(map(Path, jars)), _train)


def _train(option: str) -> None:
    with tempfile.TemporaryDirectory(prefix="splice-class-data-") as folder:
        node = ProcessNode(Path(folder), new_cluster_id(), {}, "512m", training=[option])
        topics = KafkaTopics(f"127.0.0.1:{node.port}")
        node.start()
        try:
            wait_for("Kafka to be ready", lambda: topics.cluster_id(timeout=1))
            topics.create("orders")
            topics.produce("orders", [Record("value", "key", 0)])
            topics.commit("readers", "orders", {0: len(list(topics.records("orders")))})
        finally:
            # The JVM writes the archive at its exit.
            node.stop(patience=300)
