# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query to be run by a driver of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from servers.process import ServerProcess
from servers.waiting import wait_for

_PROGRAM = Path(__file__).with_name("query.py")
_TESTS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Job:
    """A query from a source into Parquet files, and the folder it works in.

    Attributes:
        options: The source, as the options of ``format("splice")``.
        folder: Where its logs, and what Spark writes besides, go.
        output: Where its rows go; a path or a URI.
        checkpoint: Its checkpoint; a path or a URI.
        trigger: The arguments of ``DataStreamWriter.trigger``.
        conf: Settings of its session.
    """

    options: Mapping[str, str]
    folder: str
    output: str
    checkpoint: str
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"availableNow": True})
    conf: Mapping[str, str] = field(default_factory=dict)

    def start(self, conf: Mapping[str, str] | None = None) -> ServerProcess:
        """Starts a driver that runs it; ``conf`` is added for this time only."""
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._stop_file.unlink(missing_ok=True)
        given = folder / "job.json"
        given.write_text(json.dumps(asdict(self) | {"conf": {**self.conf, **(conf or {})}}))
        path = os.pathsep.join([str(_TESTS), *sys.path])
        command = [sys.executable, str(_PROGRAM), str(given)]
        return ServerProcess(command, folder / "driver.log", {"PYTHONPATH": path})

    def run(self, conf: Mapping[str, str] | None = None, timeout: float = 300) -> int:
        """Runs it to its end and gives the driver's exit code."""
        return self.start(conf).wait(timeout)

    def finish(self, driver: ServerProcess, timeout: float = 300) -> None:
        """Lets a driver read all that is there, stop the query and end.

        Raises:
            RuntimeError: with the end of its log, if it fails.
        """
        self._stop_file.touch()
        if driver.wait(timeout):
            raise RuntimeError(f"the driver failed:\n{driver.tail()}")

    def progress(self) -> list[dict[str, Any]]:
        """Gives the progress reports of all its drivers, oldest first."""
        reports = Path(self.folder, "progress.jsonl")
        if not reports.is_file():
            return []
        return [json.loads(line) for line in reports.read_text().splitlines()]

    def wait_for_batch(self, driver: ServerProcess, batch: int, timeout: float = 120) -> None:
        """Waits until a batch is committed.

        Raises:
            RuntimeError: with the end of the log, if the driver ends before.
        """

        def committed() -> bool:
            if driver.exit_code is not None:
                raise RuntimeError(f"the driver ended with {driver.exit_code}:\n{driver.tail()}")
            return Path(self.checkpoint, "commits", str(batch)).exists()

        wait_for(f"batch {batch} to be committed", committed, timeout)

    @property
    def _stop_file(self) -> Path:
        return Path(self.folder, "stop")
