# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""ZooKeeper server of old brokers."""

from __future__ import annotations

import socket
from pathlib import Path

from servers.class_data import java
from servers.kafka.jars import old_class_path
from servers.kafka.settings import as_properties
from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for


class ZooKeeper:
    """ZooKeeper server as a process, which exists within a ``with`` block."""

    def __init__(self, folder: Path) -> None:
        """Create the configuration in a folder, which must not exist."""
        folder.mkdir()
        self.port = free_ports(1)[0]
        self._folder, self._file = folder, folder / "zookeeper.properties"
        self._file.write_text(
            as_properties(
                {
                    "dataDir": str(folder / "data"),
                    "clientPort": str(self.port),
                    "clientPortAddress": "127.0.0.1",
                    "maxClientCnxns": "0",
                    "admin.enableServer": "false",
                }
            )
        )

    def __enter__(self) -> ZooKeeper:
        """Start the server and wait until its port is open."""
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        command = [java(), "-Xmx128m", "-XX:+UseSerialGC", "-cp", old_class_path(), main]
        self._process = ServerProcess([*command, str(self._file)], self._folder / "zookeeper.log")
        wait_for("ZooKeeper", self._is_open)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server."""
        self._process.kill()

    def _is_open(self) -> bool:
        if self._process.exit_code is not None:
            raise RuntimeError(f"ZooKeeper does not run: {self._process.tail()}")
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0
