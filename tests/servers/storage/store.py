# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Storage server for checkpoints, as a process."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for


class Store(ABC):
    """Server and its folder, which exist within a ``with`` block.

    ```python
    with HdfsStore() as store:
        store.kill_at("after", 1, driver.pid, "/sources/0/splice/chain")
    ```

    The server kills a driver at a step of a test: before or after a file is created.
    """

    jars: Sequence[Path] = ()
    """Jars for the class path of a driver."""

    def __enter__(self) -> Store:
        """Start the server and wait until the server is ready."""
        self._folder = Path(tempfile.mkdtemp(prefix="splice-store-"))
        self.ports = free_ports(2)
        try:
            self._process = ServerProcess(self._command(), self._folder / "server.log")
            wait_for("the store to be ready", self._is_ready)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and remove its folder."""
        self._remove()

    @property
    @abstractmethod
    def conf(self) -> Mapping[str, str]:
        """Return the Hadoop settings of a client."""

    @abstractmethod
    def url(self, path: str) -> str:
        """Return the address of a file or folder."""

    @abstractmethod
    def files(self, path: str) -> Mapping[str, bytes]:
        """Return the contents of all files in a folder, by their relative paths."""

    def kill_at(self, when: str, nth: int, pid: int, name: str) -> None:
        """Plan the kill (SIGKILL) of a driver at the nth file whose path matches a pattern.

        Args:
            when: ``before`` or ``after`` the creation of the file.
            nth: Number of the file, from 1.
            pid: Process of the driver, which leads a process group.
            name: Regular expression for a part of the path.
        """
        self.spare()
        plan = self._folder / "plan.next"
        plan.write_text(f"{when} {nth} {pid} {name}")
        plan.replace(self._folder / "plan")

    def spare(self) -> None:
        """Remove the plan and the record of the last kill."""
        for name in ("plan", "acted"):
            (self._folder / name).unlink(missing_ok=True)

    @property
    def acted(self) -> str | None:
        """Return the step of the last kill, such as ``after /path``; None without a kill."""
        acted = self._folder / "acted"
        return acted.read_text() if acted.exists() else None

    @property
    def pid(self) -> int:
        """Return the process id of the server."""
        return self._process.pid

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Return the command of the server."""

    @abstractmethod
    def _answers(self) -> bool:
        """Return True if the server responds."""

    def _is_ready(self) -> bool:
        if self._process.exit_code is not None:
            raise RuntimeError(f"the store does not run:\n{self._process.tail()}")
        return self._answers()

    def _remove(self) -> None:
        if hasattr(self, "_process"):
            self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
