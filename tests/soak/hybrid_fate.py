# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What a seed chooses of a hybrid: the size of the world, and where each life ends."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from kill.killing import Kill

_MOST_LIVES = 6


@dataclass(frozen=True)
class Fate:
    """The life of one query from its first start to its end.

    Attributes:
        rows: How many orders there are at first.
        sink: ``parquet`` or ``batches``.
        lives: What happens in each life but the last.
    """

    rows: int
    sink: str
    lives: tuple[LifeFate, ...]


@dataclass(frozen=True)
class LifeFate:
    """One life that is meant to be cut short.

    Attributes:
        kill: Where it dies, should it come that far.
        cores: On how many cores it runs.
        more: How many orders are added to the topic before it.
    """

    kill: Kill
    cores: int
    more: int


def fate(seed: int) -> Fate:
    """Gives the fate that the seed says, the same on every machine."""
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
    """Chooses a step at which a driver dies, should it come that far."""
    # A whole life has about 30 renames that count, twice that many files, and a row for each order.
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
    # Every life that is cut short early leaves more for those after it.
    return 1 + int(most * dice.random() ** 2)
