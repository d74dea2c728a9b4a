# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query whose driver is killed and started again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow.parquet as pq

from clusters.atlas import COLUMNS, Atlas
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog
from kill import killing
from kill.killing import Kill
from kill.life import Life
from servers.waiting import wait_for


class Mortal:
    """A query over the streams of an atlas, in drivers of its own, one after another.

    ```python
    with Mortal(atlas, folder) as query:
        query.live()
        query.until("rows", lambda: query.rows() > 0)
        query.slay()
        query.die(Kill.commits(4))
    ```
    """

    def __init__(
        self, atlas: Atlas, folder: Path, master: str = "local[2]", **options: str | bool | float
    ) -> None:
        """Takes where the streams lie, an empty folder, and the options of the source."""
        source = atlas.builder(**options).stream_pattern("^orders").starting_offsets("earliest")
        self._query = {
            "options": source.build().options() | killing.OPTIONS,
            "select": [*COLUMNS, "timestamp"],
            "checkpoint": f"{killing.SCHEME}://{folder / 'checkpoint'}",
            "output": f"{killing.SCHEME}://{folder / 'out'}",
            "sink": "parquet",
            "sink_options": {},
            "trigger": {"processingTime": "100 milliseconds"},
        }
        self.checkpoint = Checkpoint(folder / "checkpoint")
        self._folder, self._master = folder, master
        self._sink = SinkLog(folder / "out")
        self._numbers = itertools.count()

    def __enter__(self) -> Mortal:
        """Starts nothing."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kills the driver, if there is one."""
        if hasattr(self, "_life"):
            self.slay()

    def live(self, *kills: Kill) -> None:
        """Starts a driver, which goes on where the last one was."""
        folder = self._folder / f"life-{next(self._numbers)}"
        self._life = Life.begin(folder, [self._query], kills, self._master)

    def until(self, what: str, condition: Callable[[], object]) -> None:
        """Waits for a condition while the driver goes on, which must not end."""

        def done() -> bool:
            process = self._life.process
            assert process.exit_code is None, f"it ended before {what}:\n{process.tail(80)}"
            return bool(condition())

        wait_for(what, done, 120)

    def slay(self) -> None:
        """Kills the driver, wherever it is."""
        self._life.process.kill()

    def die(self, kill: Kill) -> None:
        """Starts a driver that goes on until it dies at a step."""
        self.live(kill)
        self._life.process.wait(120)
        assert self._life.acted, f"it was not killed at {kill}:\n{self._life.process.tail(80)}"

    def finish(self) -> None:
        """Lets the driver read all that is there and end."""
        self._life.finish()

    def rows(self) -> int:
        """Gives how many rows are in the sink."""
        return self._sink.rows()

    def written(self) -> list[dict[str, Any]]:
        """Gives the rows in the sink."""
        return [row for file in self._sink.files() for row in pq.read_table(file).to_pylist()]
