# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Server of PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for

_USER = "postgres"


class Postgresql:
    """Server with an empty database. A server of the user ``root`` runs as another user."""

    def __init__(self, folder: Path) -> None:
        """Create a server whose log is in a folder."""
        self._log, (self._port,) = folder / "log", free_ports(1)
        # The user of the server has no access to the folders of pytest.
        self._data = Path(tempfile.mkdtemp(prefix="splice-postgresql-"))

    @staticmethod
    def programs() -> Path | None:
        """Return the folder of the programs of the newest installed version, or None."""
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        return found[-1].parent if found else None

    def __enter__(self) -> Postgresql:
        """Create the database, and start the server."""
        programs = self.programs()
        assert programs
        as_user = ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"]
        as_user = as_user if os.geteuid() == 0 else []
        if as_user:
            shutil.chown(self._data, _USER)
        data = str(self._data / "data")
        initdb = [*as_user, str(programs / "initdb"), "-D", data, "-U", _USER]
        subprocess.run(
            [*initdb, "--auth=trust", "--no-sync"], check=True, capture_output=True, cwd="/"
        )
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self._data),
            "fsync": "off",
        }
        command = [*as_user, str(programs / "postgres"), "-D", data, "-p", str(self._port)]
        for key, value in settings.items():
            command += ["-c", f"{key}={value}"]
        self._process = ServerProcess(command, self._log)
        wait_for("PostgreSQL", self._is_ready)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server, and delete the database."""
        self._process.kill()
        shutil.rmtree(self._data, ignore_errors=True)

    @property
    def options(self) -> dict[str, str]:
        """Return the options of Spark's reader and writer of JDBC."""
        return {
            "url": f"jdbc:postgresql://127.0.0.1:{self._port}/postgres",
            "user": _USER,
            "driver": "org.postgresql.Driver",
        }

    def _is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
