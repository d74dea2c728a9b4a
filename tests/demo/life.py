# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs of the demo's driver, and the moments at which a driver is killed."""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.checkpoint import Checkpoint
from servers.process import ServerProcess

_TESTS = Path(__file__).resolve().parents[1]


class Driver:
    """Driver process that runs the query."""

    def __init__(self, folder: Path, servers: str, topic: str, files: int, records: int) -> None:
        """Start the process."""
        self._folder = folder
        self._reports = folder / f"progress-{uuid.uuid4().hex[:8]}.jsonl"
        (folder / "stop").unlink(missing_ok=True)
        arguments = [servers, topic, str(folder), str(self._reports)]
        arguments += ["--files", str(files), "--records", str(records)]
        self.process = ServerProcess(
            [sys.executable, "-m", "demo.driver", *arguments],
            folder / "driver.log",
            {"PYTHONPATH": str(_TESTS), "TMPDIR": str(folder)},
        )

    def check(self) -> None:
        """Raise an error if the process has ended."""
        if self.process.exit_code is not None:
            raise RuntimeError(f"the driver has ended unexpectedly:\n{self.process.tail()}")

    def kill(self) -> None:
        """Kill the process and its JVM (SIGKILL)."""
        self.process.kill()

    def finish(self) -> None:
        """Stop the query, and wait until the process has ended."""
        (self._folder / "stop").touch()
        if self.process.wait(120):
            raise RuntimeError(f"the driver has failed:\n{self.process.tail()}")

    def report(self) -> dict[str, Any] | None:
        """Return the last progress report; None before the first report."""
        lines = self._reports.read_text().splitlines() if self._reports.exists() else []
        try:
            return json.loads(lines[-1]) if lines else None
        except json.JSONDecodeError:  # The driver is writing the file.
            return None


@dataclass(frozen=True)
class Moment:
    """Moment at which a driver is killed.

    Attributes:
        name: Name of the moment.
        holds: Function that returns True at the moment, by the state of the checkpoint. After a
            kill, the result is True if the driver was killed at the moment.
        is_over: Function that returns True if the moment cannot come any more.
    """

    name: str
    holds: Callable[[], bool]
    is_over: Callable[[], bool]


def moments(checkpoint: Checkpoint) -> list[Moment]:
    """Return the three moments: in the history, at the switch, in the live leg."""

    def running(leg: str, least: int) -> bool:
        # A batch of the leg is planned and not committed, so its tasks run.
        batch = checkpoint.planned()
        if batch < least or checkpoint.is_committed(batch):
            return False
        return all(checkpoint.position(each).leg == leg for each in (batch, batch - 1) if each >= 0)

    def switching() -> bool:
        if not checkpoint.switch_has_begun:
            return False
        batch = checkpoint.planned()
        if checkpoint.position(batch).leg == "history":
            return True  # The offset log does not have the batch yet.
        return checkpoint.position(batch - 1).leg == "history" and not checkpoint.is_committed(
            batch
        )

    def switched() -> bool:
        return checkpoint.switch_has_begun

    return [
        Moment("in the history", lambda: running("history", 2), switched),
        Moment("at the switch", switching, switched),
        Moment("in the live leg", lambda: running("live", 0), lambda: False),
    ]


def wait_for(
    moment: Moment, check: Callable[[], None], tell: Callable[[], None], timeout: float
) -> None:
    """Poll the checkpoint until the moment has come or is over, and report the progress."""
    end = time.monotonic() + timeout
    printed = time.monotonic()
    while not (moment.holds() or moment.is_over()):
        time.sleep(0.001)
        if time.monotonic() - printed > 1.5:
            tell()
            check()
            printed = time.monotonic()
        if printed > end:
            raise TimeoutError(
                f"the driver did not reach a moment {moment.name} within {timeout} s"
            )
