# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A Kafka node that can be stopped, killed and started again on the same port."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from servers.kafka_jars import class_path
from servers.kafka_settings import LOGGING, as_properties, one_node, with_listeners
from servers.ports import free_ports
from servers.process import ServerProcess


class KafkaNode(Protocol):
    """What a cluster asks of its node."""

    port: int

    def start(self) -> None:
        """Starts it, or starts it again; it is not yet ready."""

    def stop(self) -> None:
        """Ends it in order (SIGTERM)."""

    def kill(self) -> None:
        """Kills it (SIGKILL)."""

    def failure(self) -> str | None:
        """Says why it does not run any more; None while it runs."""

    def remove(self) -> None:
        """Ends it and leaves nothing of it behind but its folder."""


class ProcessNode:
    """A node as a plain JVM process."""

    def __init__(
        self,
        folder: Path,
        cluster_id: str,
        settings: Mapping[str, str],
        heap: str,
        listeners: Mapping[str, str] | None = None,
        ports: tuple[int, int] | None = None,
    ) -> None:
        """Formats the storage below the folder.

        Listeners beside the plain one are given by name and security protocol. The ports of broker
        and controller are free ones if they are not given.
        """
        protocols = dict(listeners or {})
        broker, control, *more = free_ports(2 + len(protocols))
        self.port, controller = ports or (broker, control)
        self.ports = dict(zip(protocols, more, strict=True))
        self._folder = folder
        self._process: ServerProcess | None = None
        (folder / "log4j2.properties").write_text(LOGGING)
        properties = folder / "server.properties"
        properties.write_text(
            as_properties(
                with_listeners(
                    one_node(folder / "data", self.port, controller),
                    {name: (self.ports[name], protocol) for name, protocol in protocols.items()},
                )
                | dict(settings)
            )
        )
        self._java = [_java(), f"-Xmx{heap}", "-XX:+UseSerialGC"]
        self._java += ["-cp", f"{folder}{os.pathsep}{class_path()}"]
        format_storage = ["kafka.tools.StorageTool", "format", "-t", cluster_id]
        done = subprocess.run(
            [*self._java, *format_storage, "-c", str(properties)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(
                f"Kafka's storage could not be formatted: {done.stdout}{done.stderr}"
            )

    def start(self) -> None:
        """Starts it, or starts it again; it is not yet ready."""
        self._process = ServerProcess(
            [*self._java, "kafka.Kafka", str(self._folder / "server.properties")],
            self._folder / "kafka.log",
        )

    def stop(self) -> None:
        """Ends it in order (SIGTERM)."""
        if self._process:
            self._process.terminate()

    def kill(self) -> None:
        """Kills it (SIGKILL)."""
        if self._process:
            self._process.kill()

    def freeze(self) -> None:
        """Stops its execution (SIGSTOP): connections stay, answers do not come."""
        os.kill(self._running().pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on (SIGCONT)."""
        os.kill(self._running().pid, signal.SIGCONT)

    def failure(self) -> str | None:
        """Says why it does not run any more; None while it runs."""
        if self._process is None:
            return "it was never started"
        code = self._process.exit_code
        return None if code is None else f"exit code {code}:\n{self._process.tail()}"

    def remove(self) -> None:
        """Ends it and leaves nothing of it behind but its folder."""
        self.kill()

    def _running(self) -> ServerProcess:
        if self._process is None or self._process.exit_code is not None:
            raise RuntimeError(f"the Kafka node does not run: {self.failure()}")
        return self._process


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"
