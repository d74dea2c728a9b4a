# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What a seed chooses of a stream on three clusters: what changes, and where each life ends."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kill.killing import Kill
from soak.hybrid_fate import any_kill

_MOST_LIVES = 4
_ROWS_IN_A_LIFE = 2000


class What(Enum):
    """What happens while a driver runs, or between two of them."""

    ADD = "a topic is added to a stream"
    REMOVE = "a topic is removed from its stream"
    RETURN = "a removed topic comes back"
    MOVE = "a topic is moved to another cluster"
    RENAME = "a topic is moved to another name"
    STREAM = "a stream appears"
    ADDRESS = "a cluster is reached at another address"
    CREDENTIALS = "clients log in as another user"
    PARTITION = "a partition is added"
    PRODUCE = "orders are added"
    NO_METADATA = "the metadata cannot be read"
    OLD_METADATA = "an older generation is answered"
    DOWN = "a cluster is down"
    CUT = "the network before a cluster is cut"


@dataclass(frozen=True)
class Event:
    """Something that happens.

    Attributes:
        what: What it is.
        after: How many rows the driver has seen before; 0 is right at its start.
        which: Chooses among what it can happen to, by its remainder.
        rows: How many orders are added by it.
        seconds: How long it lasts, if it passes.
        deadly: Whether the driver is killed right after it, or in the middle of it if it lasts.
    """

    what: What
    after: int
    which: int
    rows: int
    seconds: float
    deadly: bool

    def __str__(self) -> str:
        """Says it in one line."""
        return f"{self.what.value} after {self.after} rows"


@dataclass(frozen=True)
class LifeFate:
    """One life of the driver but the last.

    Attributes:
        kill: The step at which it dies, should it come that far.
        cores: On how many cores it runs.
        goes_on: Whether it waits for more, until told to stop; else it ends by itself.
        options: The options that may be others in another life.
        before: What has changed since the life before.
        events: What happens meanwhile, in this order.
    """

    kill: Kill | None
    cores: int
    goes_on: bool
    options: dict[str, str]
    before: tuple[Event, ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class DynamicFate:
    """The life of one query from its first start to its end.

    Attributes:
        rows: How many orders there are at first on each of the first topics.
        topics: On how many topics the stream lies at first.
        sink: ``parquet`` or ``batches``.
        lives: Those that come before the last.
        last: The options of the last, which reads all that is there.
    """

    rows: int
    topics: int
    sink: str
    lives: tuple[LifeFate, ...]
    last: dict[str, str]


def fate(seed: int) -> DynamicFate:
    """Gives the fate that the seed says, the same on every machine."""
    dice = random.Random(seed)
    return DynamicFate(
        rows=dice.randrange(200, 2500),
        topics=dice.randint(1, 4),
        sink=dice.choice(["parquet", "parquet", "batches"]),
        lives=tuple(_lives(dice)),
        last=_options(dice),
    )


def _lives(dice: random.Random) -> Iterator[LifeFate]:
    for number in range(dice.randint(1, _MOST_LIVES)):
        events = [_event(dice) for _ in range(dice.choice([0, 1, 2, 3, 4]))]
        before = [_event(dice) for _ in range(dice.choice([0, 0, 1, 2]) if number else 0)]
        yield LifeFate(
            kill=any_kill(dice) if dice.random() < 0.6 else None,
            cores=dice.choice([1, 2, 2, 3]),
            goes_on=dice.random() < 0.6,
            options=_options(dice),
            before=tuple(before),
            events=tuple(sorted(events, key=lambda event: event.after)),
        )


def _event(dice: random.Random) -> Event:
    return Event(
        what=dice.choice([*What, What.REMOVE, What.RETURN, What.MOVE]),
        after=dice.choice([0, 1, int(_ROWS_IN_A_LIFE * dice.random() ** 2)]),
        which=dice.randrange(1000),
        rows=dice.choice([30, 300, 900]),
        seconds=dice.choice([0.5, 3.0, 8.0]),
        deadly=dice.random() < 0.25,
    )


def _options(dice: random.Random) -> dict[str, str]:
    chosen = {
        "assigner": dice.choice(["balanced", "roundRobin", "hash"]),
        "commitToGroup": dice.choice(["true", "false"]),
        "admission": dice.choice(["lag", "lag", "equal"]),
        "maxOffsetsPerTrigger": dice.choice(["150", "700", "3000"]),
        "discoveryInterval": dice.choice(["200ms", "1s"]),
        "cutover": dice.choice(["together", "stream"]),
        "clusterWait": dice.choice(["300ms", "2s"]),
        "maxRemovalFraction": dice.choice(["0.5", "1"]),
    }
    return chosen | ({"slots": dice.choice(["1", "2", "5"])} if dice.random() < 0.6 else {})
