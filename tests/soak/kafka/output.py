# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of a query's sink with their times, and their comparison with a topic log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from demo import orders
from demo.judge import SinkLog
from soak.kafka.alignment import Batch
from soak.kafka.topic_log import TopicLog
from soak.progress import Rows


@dataclass(frozen=True)
class Output:
    """Orders in a sink.

    Attributes:
        times: Number of rows of each order.
        files: Time of each file, and its orders.
        batches: Time of the last file of each batch, and the orders of the batch, if the sink has
            one folder per batch.
        altered: Number of rows whose amount differs from the amount of the order.
    """

    times: Counter[int]
    files: list[tuple[float, list[int]]]
    altered: int
    batches: tuple[Batch, ...] = ()

    def progress(self, kept: set[int]) -> list[Rows]:
        """Return the times and numbers of the orders of a set."""
        found = [(at, len(kept.intersection(numbers))) for at, numbers in self.files]
        return [(at, rows) for at, rows in found if rows]


def read(folder: Path, sink: str) -> Output:
    """Read the orders that a query has committed to its sink.

    Args:
        folder: Folder of the sink.
        sink: ``parquet`` for Spark's file sink, or ``batches`` for one folder per batch.
    """
    whole = (
        sorted(folder.glob("*/part-*.parquet")) if sink == "batches" else SinkLog(folder).files()
    )
    files, altered = [], 0
    batches: dict[int, list[tuple[float, list[int]]]] = defaultdict(list)
    for file in whole:
        table = pq.read_table(file, columns=["order_id", "amount"])
        digits = pc.utf8_slice_codeunits(table["order_id"], len(orders.PREFIX))
        numbers = digits.cast("int64").to_numpy()
        altered += int((table["amount"].to_numpy() != orders.amounts(np.asarray(numbers))).sum())
        files.append((file.stat().st_mtime, [int(number) for number in numbers]))
        if sink == "batches":
            batches[int(file.parent.name)].append(files[-1])
    return Output(
        Counter(number for _, written in files for number in written),
        files,
        altered,
        tuple(
            Batch(max(at for at, _ in own), [number for _, numbers in own for number in numbers])
            for _, own in sorted(batches.items())
        ),
    )


def assert_complete(output: Output, log: TopicLog, before: Mapping[str, int]) -> None:
    """Assert that a run has read all required orders.

    Args:
        output: Sink after the run.
        log: Log of written and removed orders.
        before: Number of orders in each topic (by id) at the start of the run.
    """
    lost = log.lost(output.times, before)
    assert not lost, f"the run ended without {_listed(lost)}"


def assert_exact(output: Output, log: TopicLog) -> None:
    """Assert that the sink has no duplicates, and no orders that were not written."""
    twice = {number for number, times in output.times.items() if times > 1}
    assert not twice, f"duplicated: {_listed(twice)}"
    written = {number for one in log.all for number in one.numbers}
    foreign = output.times.keys() - written
    assert not foreign, f"never written: {_listed(foreign)}"
    assert not output.altered, f"{output.altered} rows with another amount"


def _listed(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return f"{len(found)} orders, the first orders {found[:10]}"
