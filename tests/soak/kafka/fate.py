# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random choices of a seed for Kafka topics: the query, its faults, and kills."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from kill.killing import Kill
from soak.hybrid.fate import any_kill
from soak.kafka.policies import Policies, choose

_MOST_LIVES = 4
_ROWS_IN_A_LIFE = 3000


class What(Enum):
    """Kind of an event during a run of the driver. Faults are temporary."""

    SLOW = "every response is delayed by 200 ms"
    CUT = "the network is cut"
    HALF_OPEN = "the network is half-open"
    BROKER = "a broker is killed"
    ALL_BROKERS = "all brokers are killed"
    PRODUCE = "orders are added"
    PARTITION = "a partition is added"
    DELETE = "a topic is deleted"
    RECREATE = "a topic is recreated"
    TRUNCATE = "records of a topic are deleted"

    @property
    def is_fault(self) -> bool:
        """Return True for a temporary fault."""
        return self not in (What.PRODUCE, What.PARTITION) and not self.is_removal

    @property
    def is_removal(self) -> bool:
        """Return True for an event that removes records from a topic."""
        return self in (What.DELETE, What.RECREATE, What.TRUNCATE)


_REMOVALS = [what for what in What if what.is_removal]


@dataclass(frozen=True)
class Event:
    """Event of a run.

    Attributes:
        what: Kind of the event.
        after: Number of rows that the driver has read before the event; 0 is its start.
        seconds: Duration of a fault.
        broker: Number of the broker, from 0.
        rows: Number of added orders.
        deadly: True if the driver is killed during the event.
        which: Number that selects the affected topic, by its remainder.
        gap: Seconds between the deletion and the recreation of a topic.
        share: Share of each partition that is truncated.
    """

    what: What
    after: int
    seconds: float
    broker: int
    rows: int
    deadly: bool
    which: int
    gap: float
    share: float

    def __str__(self) -> str:
        """Return the event in one line."""
        text = f"{self.what.value} after {self.after} rows"
        if self.what is What.RECREATE:
            return f"{text}, missing for {self.gap:.0f} s"
        return f"{text} for {self.seconds:.1f} s" if self.what.is_fault else text


@dataclass(frozen=True)
class LifeFate:
    """One run of the driver except the last run.

    Attributes:
        kill: Step at which the driver is killed, if the driver reaches the step.
        cores: Number of cores.
        goes_on: True if the driver runs until a stop, and not with AvailableNow.
        options: Options that may differ between runs.
        policies: Policies for topics that are deleted, recreated or truncated.
        before: Removals since the previous run.
        more: Number of orders that are added before the run.
        partition: Number of these orders in a new partition; 0 adds no partition.
        events: Events during the run, in this order.
    """

    kill: Kill | None
    cores: int
    goes_on: bool
    options: dict[str, str]
    policies: Policies
    before: tuple[Event, ...]
    more: int
    partition: int
    events: tuple[Event, ...]


@dataclass(frozen=True)
class KafkaFate:
    """All runs of one query from its first start to its end.

    Attributes:
        rows: Initial number of orders.
        sink: ``parquet`` or ``batches``.
        transactions: True if orders are written in transactions, each after an aborted transaction.
        others: Initial numbers of orders of topics that may be deleted, recreated or truncated.
        pattern: True if the query subscribes with a pattern, and not with names.
        lives: All runs except the last run.
        last: Options of the last run, which reads all available rows.
    """

    rows: int
    sink: str
    transactions: bool
    others: tuple[int, ...]
    pattern: bool
    lives: tuple[LifeFate, ...]
    last: dict[str, str]


def fate(seed: int) -> KafkaFate:
    """Return the choices of a seed, which are the same on every machine."""
    dice = random.Random(seed)
    chosen = KafkaFate(
        rows=dice.choice([dice.randrange(500, 3000), dice.randrange(3000, 12000)]),
        sink=dice.choice(["parquet", "parquet", "batches"]),
        transactions=dice.random() < 0.3,
        others=tuple(dice.choice([300, 2000, 5000]) for _ in range(dice.choice([1, 2, 2, 3]))),
        pattern=dice.random() < 0.4,
        lives=tuple(_lives(dice)),
        last=_options(dice),
    )
    return _by_lag(chosen) if chosen.transactions else chosen


def _by_lag(of: KafkaFate) -> KafkaFate:
    """Replace ``eventTime``: markers have the current time, and hide the older records."""

    def changed(options: dict[str, str]) -> dict[str, str]:
        by_time = options["admission"] == "eventTime"
        return options | ({"admission": "lag"} if by_time else {})

    lives = tuple(replace(life, options=changed(life.options)) for life in of.lives)
    return replace(of, lives=lives, last=changed(of.last))


def _lives(dice: random.Random) -> Iterator[LifeFate]:
    for number in range(dice.randint(1, _MOST_LIVES)):
        events = [_event(dice, [*What, What.BROKER]) for _ in range(dice.choice([0, 1, 1, 2]))]
        events += [_event(dice, _REMOVALS) for _ in range(dice.choice([0, 1, 1, 2]))]
        before = [_event(dice, _REMOVALS) for _ in range(dice.choice([0, 0, 1]) if number else 0)]
        yield LifeFate(
            kill=any_kill(dice) if dice.random() < 0.6 else None,
            cores=dice.choice([1, 2, 2, 3]),
            goes_on=dice.random() < 0.5,
            options=_options(dice),
            policies=choose(dice),
            before=tuple(before),
            more=dice.choice([0, 0, 50, 400, 2000]),
            partition=dice.choice([0, 0, 0, 0, 300]),
            events=tuple(sorted(events, key=lambda event: event.after)),
        )


def _event(dice: random.Random, kinds: Sequence[What]) -> Event:
    return Event(
        what=dice.choice(kinds),
        after=dice.choice([0, 1, int(_ROWS_IN_A_LIFE * dice.random() ** 2)]),
        seconds=dice.choice([0.2, 2.0, 6.0]),
        broker=dice.randrange(3),
        rows=dice.choice([30, 300]),
        deadly=dice.random() < 0.2,
        which=dice.randrange(60),
        gap=dice.choice([0.0, 1.0, 6.0, 15.0]),
        share=dice.choice([0.1, 0.5, 1.0]),
    )


def _options(dice: random.Random) -> dict[str, str]:
    chosen = {
        "assigner": dice.choice(["balanced", "roundRobin", "hash"]),
        "splitLargePartitions": dice.choice(["true", "false"]),
        "commitToGroup": dice.choice(["true", "false"]),
        "admission": dice.choice(["lag", "equal", "eventTime", "eventTime"]),
        "maxOffsetsPerTrigger": dice.choice(["150", "700", "3000", "8000"]),
        "discoveryInterval": dice.choice(["200ms", "2s"]),
        # Fetches are small, so that most records of a batch are unread at a fault, or large.
        "kafka.max.partition.fetch.bytes": dice.choice(["16384", "4194304"]),
    }
    rare = {
        "slots": dice.choice(["1", "2", "3", "5"]),
        "minPartitions": dice.choice(["2", "7"]),
        "maxRecordsPerPartition": dice.choice(["100", "1000"]),
        "maxBytesPerTrigger": dice.choice(["10k", "100k"]),
    }
    often = {"slots": 0.6, "minPartitions": 0.2, "maxRecordsPerPartition": 0.2}
    return chosen | {k: v for k, v in rare.items() if dice.random() < often.get(k, 0.1)}
