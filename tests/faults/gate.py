# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Holds a batch in the middle of its tasks until something has been done to the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from servers.waiting import wait_for

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Gate:
    """A place in a query at which each task waits once it has rows, until the gate is open."""

    def __init__(self, folder: Path) -> None:
        """Takes a folder for the two signs, which is made; the gate is closed."""
        folder.mkdir()
        self._reached, self._open = folder / "reached", folder / "open"

    def across(self, rows: DataFrame) -> DataFrame:
        """Puts the gate after the rows."""
        return rows.mapInArrow(_holding(str(self._reached), str(self._open)), rows.schema)

    def wait(self) -> None:
        """Waits until a task is at the gate."""
        wait_for("a task at the gate", self._reached.exists, 120)

    def open(self) -> None:
        """Lets all pass, now and later."""
        self._open.touch()


def _holding(
    reached: str, opened: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    # It runs in a worker of Spark's, which cannot import this module.
    def hold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pathlib
        import time

        for batch in batches:
            pathlib.Path(reached).touch()
            while not pathlib.Path(opened).exists():
                time.sleep(0.05)
            yield batch

    return hold
