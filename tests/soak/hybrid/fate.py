# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random choices of a seed for a hybrid: numbers of orders, and kills."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from kill.killing import Kill

_MOST_LIVES = 6


@dataclass(frozen=True)
class Fate:
    """All runs of one query from its first start to its end.

    Attributes:
        rows: Initial number of orders.
        sink: ``parquet`` or ``batches``.
        lives: All runs except the last run.
    """

    rows: int
    sink: str
    lives: tuple[LifeFate, ...]


@dataclass(frozen=True)
class LifeFate:
    """One run of the driver that ends with a kill.

    Attributes:
        kill: Step at which the driver is killed, if the driver reaches the step.
        cores: Number of cores.
        more: Number of orders that are added to the topic before the run.
    """

    kill: Kill
    cores: int
    more: int


def fate(seed: int) -> Fate:
    """Return the choices of a seed, which are the same on every machine."""
    dice = random.Random(seed)
    return Fate(
        rows=dice.randrange(1500, 4000),
        sink=dice.choice(["parquet", "parquet", "batches"]),
        lives=tuple(_lives(dice)),
    )


def _lives(dice: random.Random) -> Iterator[LifeFate]:
    for _ in range(dice.randint(1, _MOST_LIVES)):
        yield LifeFate(any_kill(dice), dice.choice([1, 2, 2, 3]), dice.choice([0, 0, 50, 400]))


def any_kill(dice: random.Random) -> Kill:
    """Choose a step at which a driver is killed, if the driver reaches the step."""
    # A whole run has about 30 relevant renames, about 60 files, and one row per order.
    when = dice.choice(["before", "after"])
    action = dice.choice(["halt", "halt", "signal"])
    what = dice.choice(["rename", "rename", "create", "row", "log"])
    if what == "row":
        return Kill("row", ".", nth=_early(dice, 2500), action=action)
    if what == "log":
        log = dice.choice(["/offsets/", "/commits/", "/sources/0/splice/", "/_spark_metadata/"])
        return Kill("rename", log, when, _early(dice, 6), action)
    return Kill(what, ".", when, _early(dice, 40), action)


def _early(dice: random.Random, most: int) -> int:
    # An early kill leaves more steps for the next runs.
    return 1 + int(most * dice.random() ** 2)
