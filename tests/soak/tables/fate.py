# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random choices of a seed for a table: slices, rule of the hand-over, other writers, and kills."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from kill.killing import Kill
from soak.hybrid.fate import any_kill

_MOST_LIVES = 6


class Change(Enum):
    """Change of the table between two runs. The value is a statement, except for an append."""

    APPEND = "the writer of the table appends orders of the topic"
    COMPACT = "OPTIMIZE {table}"
    COLUMN = "ALTER TABLE {table} ADD COLUMNS (note_{number} STRING)"
    DELETE = "DELETE FROM {table} WHERE offset % 3 = 1"
    DELETE_FILES = "DELETE FROM {table} WHERE partition = 1"
    UPDATE = "UPDATE {table} SET amount = -1, weight = 0, day = NULL WHERE offset % 4 = 0"

    @property
    def keeps_rows(self) -> bool:
        """True if all orders of the table stay unchanged."""
        return self in (Change.APPEND, Change.COMPACT, Change.COLUMN)


class Slicing(NamedTuple):
    """Partition column of the table, and options of the slices without the name of the leg."""

    partition: str | None = None
    options: Mapping[str, str] = {}


SLICINGS = (
    Slicing(),
    Slicing("partition"),
    Slicing("day"),
    Slicing("day", {"sliceBy": "day"}),
    Slicing("day", {"sliceBy": "day", "slices": "6"}),
    Slicing(None, {"sliceBy": "offset", "sliceEvery": "150"}),
    Slicing(None, {"sliceBy": "event_time", "sliceEvery": "100ms"}),
    Slicing("partition", {"sliceBy": "amount", "slices": "5"}),
    Slicing(None, {"sliceBy": "weight", "slices": "6"}),
)
"""The columns ``day`` and ``weight`` have nulls and extreme values."""

ENTRIES = ("leg-history/table", r"leg-history/parts-\d+", r"leg-live/hand-over-\d+")
"""Entries of the side log, as regular expressions."""


@dataclass(frozen=True)
class TableFate:
    """All runs of one query from its first start to its end.

    Attributes:
        rows: Number of orders that the table has before the changes.
        later: Number of orders that are added to the topic after the table exists.
        writer: Format of the source of the query that writes the table.
        vectors: True if the table has deletion vectors.
        holes: True if the table loses one third of its rows before the first run.
        old: True if ``versionAsOf`` selects the version before the changes.
        slicing: Slices of the table.
        options: Other options.
        by_checkpoint: True for the rule ``writerCheckpoint``, False for the rule ``offsets``.
        sink: ``parquet`` or ``batches``.
        lives: All runs. The last run has no kill.
    """

    rows: int
    later: int
    writer: str
    vectors: bool
    holes: bool
    old: bool
    slicing: Slicing
    options: Mapping[str, str]
    by_checkpoint: bool
    sink: str
    lives: tuple[LifeFate, ...]


@dataclass(frozen=True)
class LifeFate:
    """One run of the driver.

    Attributes:
        kill: Step at which the driver is killed, if the driver reaches the step.
        cores: Number of cores.
        more: Number of orders that are added to the topic before the run.
        changes: Changes of the table before the run.
        conf: Settings, with which Spark plans other partitions.
    """

    kill: Kill | None
    cores: int
    more: int
    changes: tuple[Change, ...]
    conf: Mapping[str, str]


def fate(seed: int) -> TableFate:
    """Return the choices of a seed, which are the same on every machine."""
    dice = random.Random(seed)
    by_checkpoint = dice.random() < 0.4
    bytes_per_batch = dice.choice(["1", "1", "20k", None])
    return TableFate(
        rows=dice.randrange(800, 2500),
        later=dice.choice([0, 300, 1200]),
        writer=dice.choice(["kafka", "splice"]),
        vectors=dice.random() < 0.5,
        # The rule `writerCheckpoint` does not read deleted rows from the log.
        holes=not by_checkpoint and dice.random() < 0.3,
        old=dice.random() < 0.3,
        slicing=dice.choice(SLICINGS),
        options={"maxBytesPerTrigger": bytes_per_batch} if bytes_per_batch else {},
        by_checkpoint=by_checkpoint,
        sink=dice.choice(["parquet", "parquet", "batches"]),
        lives=tuple(_lives(dice)),
    )


def _lives(dice: random.Random) -> Iterator[LifeFate]:
    for left in reversed(range(dice.randint(2, _MOST_LIVES + 1))):
        yield LifeFate(
            kill=_kill(dice) if left else None,
            cores=dice.choice([1, 2, 2, 3]),
            more=dice.choice([0, 0, 50, 400]),
            changes=tuple(dice.choices(list(Change), k=dice.choice([0, 1, 1, 2]))),
            conf={
                "spark.sql.adaptive.enabled": dice.choice(["true", "false"]),
                "spark.sql.files.maxPartitionBytes": dice.choice(["1k", "4k", "128m"]),
                "spark.sql.files.openCostInBytes": dice.choice(["1", "4m"]),
            },
        )


def _kill(dice: random.Random) -> Kill:
    found = any_kill(dice)
    if dice.random() < 0.6:
        return found
    entry = dice.choice(ENTRIES)
    nth = dice.randint(1, 4) if "parts" in entry else 1
    return replace(Kill.entry(entry, found.when, found.action), nth=nth)
