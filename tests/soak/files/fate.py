# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random choices of a seed for a watched folder: files, options, end of the folder, and kills."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kill.copies import AVAILABLE_NOW, MICRO_BATCH
from kill.killing import Kill
from soak.hybrid.fate import any_kill

QUIET, MARKER = "quiet:2s", "_DONE"
ENDS = ("caughtUp", QUIET, f"file:{MARKER}")
"""Conditions that end a folder before a topic."""

LAYOUTS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "flat": ({},),
    "nested": ({"recursiveFileLookup": "true"},),
    "days": (
        {},
        {"partitionOrder": "day"},
        {"partitionOrder": "day", "fullListingInterval": "1s"},
    ),
}
"""Layouts of folders, with their options."""

_LIMITS: list[dict[str, str]] = [{}, {"maxFilesPerTrigger": "20"}, {"maxBytesPerTrigger": "20k"}]
_SMALL = [{"maxFilesPerTrigger": "1"}, {"maxFilesPerTrigger": "3"}]
_MOST_LIVES = 4


@dataclass(frozen=True)
class FilesFate:
    """All runs of one query from its first start to its end.

    Attributes:
        format: Format of the files.
        layout: Key of ``LAYOUTS``.
        end: Value of ``endWhen`` of a folder before a topic; None for a folder alone.
        holes: True if the archive of a topic lacks each seventh order.
        grows: True if the writer extends visible files, and ``minFileAge`` is set.
        options: Options of the folder.
        conf: Settings with which Splice removes segments early, and splits small files.
        sink: ``parquet`` or ``batches``.
        lives: All runs. The last run has no kill.
    """

    format: str
    layout: str
    end: str | None
    holes: bool
    grows: bool
    options: Mapping[str, str]
    conf: Mapping[str, str]
    sink: str
    lives: tuple[LifeFate, ...]


@dataclass(frozen=True)
class LifeFate:
    """One run of the driver.

    Attributes:
        kill: Step at which the driver is killed, if the driver reaches the step.
        rows: Number of rows that the driver reads before SIGKILL.
        seconds: Seconds between these rows and SIGKILL.
        cores: Number of cores.
        trigger: Trigger of the query.
        options: Options of the folder.
    """

    kill: Kill | None
    rows: int
    seconds: float
    cores: int
    trigger: Mapping[str, Any]
    options: Mapping[str, str]


def fate(seed: int) -> FilesFate:
    """Return the choices of a seed, which are the same on every machine."""
    dice = random.Random(seed)
    end = dice.choice([None, dice.choice(ENDS)])
    layout, grows = dice.choice([*LAYOUTS]), dice.random() < 0.3
    age = {"minFileAge": "2s"} if grows else {}
    order = {"orderBy": dice.choice(["modificationTime", "path"])}
    return FilesFate(
        # A text file has no columns for the hand-over.
        format=dice.choice(["json", "parquet"] if end else ["json", "parquet", "text"]),
        layout=layout,
        end=end,
        holes=dice.random() < 0.5,
        grows=grows,
        options={**dice.choice(LAYOUTS[layout]), **order, **age},
        conf={
            "spark.sql.streaming.minBatchesToRetain": dice.choice(["2", "100"]),
            "spark.sql.files.maxPartitionBytes": dice.choice(["1k", "128m"]),
        },
        sink=dice.choice(["parquet", "parquet", "batches"]),
        lives=tuple(_lives(dice, end)),
    )


def _lives(dice: random.Random, end: str | None) -> Iterator[LifeFate]:
    for left in reversed(range(dice.randint(2, _MOST_LIVES + 1))):
        kill = any_kill(dice)
        if dice.random() < 0.4:
            entry, most = dice.choice([("", 12), ("files-", 30), ("seen-", 2)])
            name, nth = f"/sources/0/splice/(.*/)?{entry}", dice.randint(1, most)
            kill = replace(kill, what="rename", name=name, nth=nth)
        # A run with AvailableNow lists once, so a folder never becomes quiet.
        once = dice.random() < 0.3 and (left or end != QUIET)
        yield LifeFate(
            kill=kill if left and dice.random() < 0.7 else None,
            rows=dice.choice([0, 1, 100, 400]),
            seconds=dice.uniform(0, dice.choice([5, 15, 60])),
            cores=dice.choice([1, 2, 2, 3]),
            trigger=AVAILABLE_NOW if once else MICRO_BATCH,
            options={
                "discoveryInterval": dice.choice(["50ms", "300ms", "1s"]),
                **dice.choice(_LIMITS + (_SMALL if left else [])),
            },
        )
