# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Query that is killed and started again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from clusters.atlas import COLUMNS, Atlas
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog
from kill import killing
from kill.killing import Kill
from kill.life import Life
from servers.waiting import wait_for


class Mortal:
    """Query over the streams of an atlas, in successive runs.

    ```python
    with Mortal(spark, atlas, folder) as query:
        query.live(slain=True)
        query.until("rows", lambda: query.rows() > 0)
        query.slay()
        query.die(Kill.commits(4))
    ```
    """

    def __init__(
        self, spark: SparkSession, atlas: Atlas, folder: Path, **options: str | bool | float
    ) -> None:
        """Create a query.

        Args:
            spark: Session of the tests, for runs that need no driver process.
            atlas: Streams.
            folder: Empty folder.
            options: Options of the source.
        """
        self.conf: Mapping[str, str] = {}
        """Settings of the next runs."""
        source = atlas.builder(**options).stream_pattern("^orders").starting_offsets("earliest")
        self.query: dict[str, Any] = {
            "options": source.build().options() | killing.OPTIONS,
            "select": [*COLUMNS, "timestamp"],
            "checkpoint": f"{killing.SCHEME}://{folder / 'checkpoint'}",
            "output": f"{killing.SCHEME}://{folder / 'out'}",
            "sink": "parquet",
            "sink_options": {},
            "trigger": {"processingTime": "100 milliseconds"},
        }
        """Query of the next runs, as for ``kill.driver``."""
        self.checkpoint = Checkpoint(folder / "checkpoint")
        self._spark, self._folder = spark, folder
        self._sink = SinkLog(folder / "out")
        self._numbers = itertools.count()

    def __enter__(self) -> Mortal:
        """Return the query without a run."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the last run, if it has not ended."""
        if hasattr(self, "_life"):
            self.slay()

    def live(self, *kills: Kill, slain: bool = False) -> None:
        """Start a run, which resumes at the position of the last run.

        Args:
            kills: Steps at which the run is killed.
            slain: True if the test kills the driver with ``slay``.
        """
        folder = self._folder / f"life-{next(self._numbers)}"
        self._life = Life.begin(
            folder, [self.query], kills, conf=self.conf, session=self._spark, slain=slain
        )

    def until(self, what: str, condition: Callable[[], object]) -> None:
        """Wait for a condition, and fail if the run ends."""

        def done() -> bool:
            process = self._life.process
            assert process.exit_code is None, f"the run ended before {what}:\n{process.tail(80)}"
            return bool(condition())

        wait_for(what, done, 120)

    def slay(self) -> None:
        """Kill the run at any step."""
        self._life.process.kill()

    def die(self, kill: Kill) -> None:
        """Start a run, and wait until a step kills the run."""
        self.live(kill)
        self._life.process.wait(120)
        tail = self._life.process.tail(80)
        assert self._life.acted, f"the run was not killed at {kill}:\n{tail}"

    def finish(self) -> None:
        """Run the query until the run has read all available rows and ends."""
        self._life.finish()

    def rows(self) -> int:
        """Return the number of rows in the sink."""
        return self._sink.rows()

    def written(self) -> list[dict[str, Any]]:
        """Return the rows in the sink."""
        return [row for file in self._sink.files() for row in pq.read_table(file).to_pylist()]
