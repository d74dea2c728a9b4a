# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A storage server that a checkpoint is on, as a plain process."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for


class Store(ABC):
    """A server and its folder, made on entering and gone on leaving.

    ```python
    with HdfsStore() as store:
        store.kill_at("after", 1, driver.pid, "/sources/0/splice/chain")
    ```

    The server kills a driver at a step that a test plans: before or after a file gets its name.
    """

    jars: Sequence[Path] = ()
    """What a driver needs on its class path."""

    def __enter__(self) -> Store:
        """Start the server and wait until it is ready."""
        self._folder = Path(tempfile.mkdtemp(prefix="splice-store-"))
        self.ports = free_ports(2)
        try:
            self._process = ServerProcess(self._command(), self._folder / "server.log")
            wait_for("the store to be ready", self._is_ready, 120)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the server and remove its folder."""
        self._remove()

    @property
    @abstractmethod
    def conf(self) -> Mapping[str, str]:
        """The Hadoop settings of a client."""

    @abstractmethod
    def url(self, path: str) -> str:
        """Return the address of a file or folder."""

    @abstractmethod
    def files(self, path: str) -> Mapping[str, bytes]:
        """Read all files below a folder, by their names from there."""

    def kill_at(self, when: str, nth: int, pid: int, name: str) -> None:
        """Plan the kill (SIGKILL) of a driver at the nth file whose path fits a pattern.

        Args:
            when: ``before`` or ``after`` the file has its name.
            nth: The number of the file, from 1.
            pid: The process of the driver, which leads a process group.
            name: A regular expression that the path contains.
        """
        self.spare()
        plan = self._folder / "plan.next"
        plan.write_text(f"{when} {nth} {pid} {name}")
        plan.replace(self._folder / "plan")

    def spare(self) -> None:
        """Drop the plan, and forget the last kill."""
        for name in ("plan", "acted"):
            (self._folder / name).unlink(missing_ok=True)

    @property
    def acted(self) -> str | None:
        """The step of the last kill, such as ``after /path``; None if the plan was not met."""
        acted = self._folder / "acted"
        return acted.read_text() if acted.exists() else None

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Return the command of the server."""

    @abstractmethod
    def _answers(self) -> bool:
        """Whether the server responds."""

    def _is_ready(self) -> bool:
        if self._process.exit_code is not None:
            raise RuntimeError(f"the store does not run:\n{self._process.tail()}")
        return self._answers()

    def _remove(self) -> None:
        if hasattr(self, "_process"):
            self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
