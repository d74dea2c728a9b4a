# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What a seed chooses of plain Kafka: the query, what befalls it, and where each life ends."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from kill.killing import Kill
from soak.hybrid_fate import any_kill
from soak.policies import Policies, choose

_MOST_LIVES = 4
_ROWS_IN_A_LIFE = 3000


class What(Enum):
    """What happens while a driver runs; faults pass by themselves."""

    SLOW = "every answer takes 200 ms more"
    CUT = "the network is cut"
    HALF_OPEN = "no answer comes any more"
    BROKER = "a broker is killed"
    ALL_BROKERS = "all brokers are killed"
    PRODUCE = "orders are added"
    PARTITION = "a partition is added"
    DELETE = "a topic is deleted"
    RECREATE = "a topic is recreated"
    TRUNCATE = "records of a topic are deleted"

    @property
    def is_fault(self) -> bool:
        """Whether it is bad, and passes."""
        return self not in (What.PRODUCE, What.PARTITION) and not self.is_removal

    @property
    def is_removal(self) -> bool:
        """Whether records are removed from a topic."""
        return self in (What.DELETE, What.RECREATE, What.TRUNCATE)


_REMOVALS = [what for what in What if what.is_removal]


@dataclass(frozen=True)
class Event:
    """Something that happens to a driver.

    Attributes:
        what: What it is.
        after: How many rows the driver has seen before; 0 is right at its start.
        seconds: How long a fault lasts.
        broker: Which broker it is, from 0.
        rows: How many orders are added.
        deadly: Whether the driver is killed in the middle of it.
        which: Chooses among the topics that may change, by its remainder.
        gap: For how many seconds a topic is missing before it is recreated.
        share: The share of each partition that is truncated.
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
        """Says it in one line."""
        said = f"{self.what.value} after {self.after} rows"
        if self.what is What.RECREATE:
            return f"{said}, missing for {self.gap:.0f} s"
        return f"{said} for {self.seconds:.1f} s" if self.what.is_fault else said


@dataclass(frozen=True)
class LifeFate:
    """One life of the driver but the last.

    Attributes:
        kill: The step at which it dies, should it come that far.
        cores: On how many cores it runs.
        goes_on: Whether it waits for more, until told to stop; else it ends by itself.
        options: The options that may be others in another life.
        policies: The policies for topics that are deleted, recreated or truncated.
        before: What was removed since the previous life.
        more: How many orders are added before it.
        partition: How many of them to a new partition; 0 adds none.
        events: What happens meanwhile, in this order.
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
    """The life of one query from its first start to its end.

    Attributes:
        rows: How many orders there are at first.
        sink: ``parquet`` or ``batches``.
        transactions: Whether orders are written in transactions, each after one that is aborted.
        others: How many orders there are at first in each topic that may be deleted, recreated or
            truncated.
        pattern: Whether the query subscribes by a pattern, else by names.
        lives: Those that come before the last.
        last: The options of the last, which reads all that is there.
    """

    rows: int
    sink: str
    transactions: bool
    others: tuple[int, ...]
    pattern: bool
    lives: tuple[LifeFate, ...]
    last: dict[str, str]


def fate(seed: int) -> KafkaFate:
    """Gives the fate that the seed says, the same on every machine."""
    dice = random.Random(seed)
    return KafkaFate(
        rows=dice.choice([dice.randrange(500, 3000), dice.randrange(3000, 12000)]),
        sink=dice.choice(["parquet", "parquet", "batches"]),
        transactions=dice.random() < 0.3,
        others=tuple(dice.choice([300, 2000, 5000]) for _ in range(dice.choice([1, 2, 2, 3]))),
        pattern=dice.random() < 0.4,
        lives=tuple(_lives(dice)),
        last=_options(dice),
    )


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
        "admission": dice.choice(["lag", "lag", "equal"]),
        "maxOffsetsPerTrigger": dice.choice(["150", "700", "3000", "8000"]),
        "discoveryInterval": dice.choice(["200ms", "2s"]),
        # Small fetches, so that a fault finds much of a batch unread, or large ones.
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
