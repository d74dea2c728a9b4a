# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A gate that stops the tasks of a batch until a test has caused a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from servers.waiting import wait_for


class Gate:
    """Point in a query at which each task with rows waits until the gate is open."""

    def __init__(self, folder: Path) -> None:
        """Create a closed gate, and the folder for its two marker files."""
        folder.mkdir()
        self._reached, self._open = folder / "reached", folder / "open"

    def across(self, rows: DataFrame) -> DataFrame:
        """Return the rows followed by a gate."""
        return rows.mapInArrow(_holding(str(self._reached), str(self._open)), rows.schema)

    def wait(self) -> None:
        """Wait until a task is at the gate."""
        wait_for("a task at the gate", self._reached.exists)

    def open(self) -> None:
        """Open the gate for all current and later tasks."""
        self._open.touch()


def _holding(
    reached: str, opened: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    # The function runs in a Python worker of Spark, which cannot import this module.
    def hold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pathlib
        import time

        for batch in batches:
            pathlib.Path(reached).touch()
            while not pathlib.Path(opened).exists():
                time.sleep(0.05)
            yield batch

    return hold
