# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka node as a container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from servers.kafka.settings import one_node
from servers.ports import free_ports

_IMAGE = "apache/kafka:4.2.0"
_DATA = "/tmp/kraft-combined-logs"


class ContainerNode:
    """Node as a container, with the same port inside and outside and after a restart."""

    def __init__(self, cluster_id: str, settings: Mapping[str, str]) -> None:
        """Create and start the container, and pull a missing image."""
        from testcontainers.core.container import DockerContainer

        self.port, controller = free_ports(2)
        # Only a process has further listeners.
        self.ports: dict[str, int] = {}
        container = DockerContainer(_IMAGE).with_bind_ports(self.port, self.port)
        node = one_node(_DATA, self.port, controller, host="0.0.0.0")
        for name, value in (node | dict(settings)).items():
            container = container.with_env(_variable(name), value)
        self._container: Any = container.with_env("CLUSTER_ID", cluster_id).start()
        self._started = True

    def start(self) -> None:
        """Start the container again, if the container does not run."""
        if not self._started:
            self._wrapped().start()
            self._started = True

    def stop(self) -> None:
        """Stop the container (SIGTERM)."""
        self._wrapped().stop()
        self._started = False

    def kill(self) -> None:
        """Kill the container (SIGKILL)."""
        self._wrapped().kill()
        self._started = False

    def freeze(self) -> None:
        """Pause the container: connections stay open without responses."""
        self._wrapped().pause()

    def thaw(self) -> None:
        """Resume the container."""
        self._wrapped().unpause()

    def failure(self) -> str | None:
        """Return the reason of the end of the container; None while it runs."""
        wrapped = self._wrapped()
        wrapped.reload()
        if wrapped.status in ("running", "created", "paused"):
            return None
        return f"{wrapped.status}:\n{wrapped.logs(tail=40).decode(errors='replace')}"

    def remove(self) -> None:
        """Remove the container with its data."""
        self._container.stop()

    def _wrapped(self) -> Any:
        return self._container.get_wrapped_container()


def _variable(setting: str) -> str:
    return "KAFKA_" + setting.upper().replace("_", "__").replace("-", "___").replace(".", "_")
