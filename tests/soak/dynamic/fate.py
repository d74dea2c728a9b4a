# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random choices of a seed for streams on three clusters: changes, faults and kills."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kill.killing import Kill
from soak.hybrid.fate import any_kill

_MOST_LIVES = 4
_ROWS_IN_A_LIFE = 2000


class What(Enum):
    """Kind of an event during a run of the driver, or between two runs."""

    ADD = "a topic is added to a stream"
    REMOVE = "a topic is removed from its stream"
    RETURN = "a removed topic is added again"
    MOVE = "a topic is moved to another cluster"
    RENAME = "a topic is moved to another name"
    STREAM = "a stream is added"
    ADDRESS = "a cluster has another address"
    CREDENTIALS = "a cluster has another user"
    PARTITION = "a partition is added"
    PRODUCE = "orders are added"
    NO_METADATA = "the metadata is unavailable"
    OLD_METADATA = "an older generation is returned"
    DOWN = "a cluster is down"
    CUT = "the network of a cluster is cut"

    @property
    def is_fault(self) -> bool:
        """Return True for a temporary fault."""
        return self in (What.NO_METADATA, What.OLD_METADATA, What.DOWN, What.CUT)


@dataclass(frozen=True)
class Event:
    """Event of a run.

    Attributes:
        what: Kind of the event.
        after: Number of rows that the driver has read before the event; 0 is its start.
        which: Number that selects the affected topic or cluster, by its remainder.
        rows: Number of added orders.
        seconds: Duration of a fault.
        deadly: True if the driver is killed right after the event, or during a fault.
    """

    what: What
    after: int
    which: int
    rows: int
    seconds: float
    deadly: bool

    def __str__(self) -> str:
        """Return the event in one line."""
        return f"{self.what.value} after {self.after} rows"


@dataclass(frozen=True)
class LifeFate:
    """One run of the driver except the last run.

    Attributes:
        kill: Step at which the driver is killed, if the driver reaches the step.
        cores: Number of cores.
        goes_on: True if the driver runs until a stop, and not with AvailableNow.
        flows: True if orders are produced without a pause during the run.
        options: Options that may differ between runs.
        before: Changes since the previous run.
        events: Events during the run, in this order.
    """

    kill: Kill | None
    cores: int
    goes_on: bool
    flows: bool
    options: dict[str, str]
    before: tuple[Event, ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class DynamicFate:
    """All runs of one query from its first start to its end.

    Attributes:
        rows: Initial number of orders of each of the first topics.
        topics: Initial number of topics of the stream.
        sink: ``parquet`` or ``batches``.
        lives: All runs except the last run.
        last: Options of the last run, which reads all available rows.
    """

    rows: int
    topics: int
    sink: str
    lives: tuple[LifeFate, ...]
    last: dict[str, str]


def fate(seed: int) -> DynamicFate:
    """Return the choices of a seed, which are the same on every machine."""
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
        events = [any_event(dice) for _ in range(dice.choice([0, 1, 2, 3, 4]))]
        before = [any_event(dice) for _ in range(dice.choice([0, 0, 1, 2]) if number else 0)]
        yield LifeFate(
            kill=any_kill(dice) if dice.random() < 0.6 else None,
            cores=dice.choice([1, 2, 2, 3]),
            goes_on=dice.random() < 0.6,
            flows=dice.random() < 0.5,
            options=_options(dice),
            before=tuple(before),
            events=tuple(sorted(events, key=lambda event: event.after)),
        )


def any_event(dice: random.Random) -> Event:
    """Choose an event. A frequent event is in the list twice."""
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
        "admission": dice.choice(["lag", "equal", "eventTime", "eventTime"]),
        "maxOffsetsPerTrigger": dice.choice(["150", "700", "3000"]),
        "discoveryInterval": dice.choice(["200ms", "1s"]),
        "cutover": dice.choice(["together", "stream"]),
        "clusterWait": dice.choice(["300ms", "2s"]),
        "maxRemovalFraction": dice.choice(["0.5", "1"]),
    }
    return chosen | ({"slots": dice.choice(["1", "2", "5"])} if dice.random() < 0.6 else {})
