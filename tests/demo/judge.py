# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Comparison of the rows of a sink with the produced orders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq

from demo import orders


@dataclass(frozen=True)
class Verdict:
    """Result of the comparison of a sink with the produced orders."""

    rows: int
    missing: int
    duplicated: int
    foreign: int
    """Number of rows without a produced order."""
    altered: int
    """Number of rows whose amount differs from the amount of the order."""

    @property
    def holds(self) -> bool:
        """True if the sink has each order once, and no other rows."""
        return not (self.missing or self.duplicated or self.foreign or self.altered)

    def __str__(self) -> str:
        """Return the result in one line."""
        text = f"rows {self.rows} missing {self.missing} duplicated {self.duplicated}"
        odd = {"foreign": self.foreign, "altered": self.altered}
        return text + "".join(f" {what} {count}" for what, count in odd.items() if count)


def judge(files: list[Path], produced: int) -> Verdict:
    """Compare the files of a sink with the orders from 0 to ``produced``, exclusive."""
    numbers, amounts = _rows(files)
    known = numbers < produced
    times = np.bincount(numbers[known], minlength=produced)
    return Verdict(
        rows=len(numbers),
        missing=int((times == 0).sum()),
        duplicated=int(np.maximum(times - 1, 0).sum()),
        foreign=int((~known).sum()),
        altered=int((amounts != orders.amounts(numbers)).sum()),
    )


def _rows(files: list[Path]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the number and the amount of each row."""
    numbers = np.zeros(0, np.int64)
    amounts = np.zeros(0)
    for file in files:
        table = pq.read_table(file, columns=["order_id", "amount"])
        digits = pc.utf8_slice_codeunits(table["order_id"], len(orders.PREFIX))
        numbers = np.append(numbers, digits.cast("int64").to_numpy())
        amounts = np.append(amounts, table["amount"].to_numpy())
    return numbers, amounts


class SinkLog:
    """Log of Spark's file sink, which lists the files of the table."""

    def __init__(self, folder: Path) -> None:
        """Create a reader of a sink's folder, which may not exist yet."""
        self._folder = folder
        self._rows: dict[Path, int] = {}

    def batches(self) -> list[int]:
        """Return the batches with an entry, oldest first. Compaction removes older entries."""
        return sorted(int(f.name.removesuffix(".compact")) for f in self._entries())

    def files(self) -> list[Path]:
        """Return the files of all batches."""
        entries = self._entries()
        compacts = [f for f in entries if f.name.endswith(".compact")]
        newest = max((int(f.name.removesuffix(".compact")) for f in compacts), default=-1)
        read = [f for f in compacts if f.name == f"{newest}.compact"]
        read += [f for f in entries if f.name.isdigit() and int(f.name) > newest]
        found: list[Path] = []
        for entry in read:
            for line in entry.read_text().splitlines()[1:]:
                logged = json.loads(line)
                if logged["action"] == "add":
                    found.append(Path(unquote(urlparse(logged["path"]).path)))
        return found

    def rows(self) -> int:
        """Return the number of rows in the files' footers. Repeated calls read only new files."""
        for file in self.files():
            if file not in self._rows:
                self._rows[file] = pq.read_metadata(file).num_rows
        return sum(self._rows.values())

    def _entries(self) -> list[Path]:
        log = self._folder / "_spark_metadata"
        names = list(log.iterdir()) if log.is_dir() else []
        return [f for f in names if f.name.removesuffix(".compact").isdigit()]


def judge_output(folder: Path, sink: str, produced: int) -> Verdict:
    """Compare the output of a query with the produced orders.

    Args:
        folder: Folder of the output.
        sink: ``parquet`` for Spark's file sink, or ``batches`` for one folder per batch.
        produced: Number of produced orders.
    """
    return judge(_files(folder, sink), produced)


def read_orders(folder: Path, sink: str) -> set[int]:
    """Return the numbers of the orders in the output of a query."""
    numbers, _ = _rows(_files(folder, sink))
    return set(numbers.tolist())


def _files(folder: Path, sink: str) -> list[Path]:
    if sink == "batches":
        return sorted(folder.glob("*/part-*.parquet"))
    return SinkLog(folder).files()
