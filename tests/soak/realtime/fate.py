# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random choices of a seed for real-time mode: source, triggers, faults, and kills."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from kill.copies import AVAILABLE_NOW, CONTINUOUS, MICRO_BATCH, REAL_TIME
from kill.killing import Kill
from soak.dynamic import fate as dynamic_fate
from soak.hybrid.fate import any_kill
from soak.kafka.fate import Event, What

_MOST_LIVES = 5
_ROWS_IN_A_LIFE = 1500
EVENTS = [
    What.SLOW,
    What.CUT,
    What.HALF_OPEN,
    What.BROKER,
    What.BROKER,
    What.ALL_BROKERS,
    What.PRODUCE,
    What.PARTITION,
]
"""Events of brokers and of a topic. A frequent event is in the list twice."""


class Source(Enum):
    """Source of a query."""

    KAFKA = "a topic"
    RECREATED = "a topic, and a topic that is recreated"
    HYBRID = "an archive, and then a topic"
    DYNAMIC = "streams on three clusters"


@dataclass(frozen=True)
class LiveFate:
    """One run of the driver except the last run.

    Attributes:
        trigger: Trigger of the query.
        kill: Step at which the driver is killed, if the driver reaches the step.
        cores: Number of cores.
        options: Options that may differ between runs.
        more: Number of orders that are added before the run.
        events: Events during the run, in this order.
        seconds: Seconds between the last event and the kill.
    """

    trigger: Mapping[str, Any]
    kill: Kill | None
    cores: int
    options: dict[str, str]
    more: int
    events: tuple[Event | dynamic_fate.Event, ...]
    seconds: float


@dataclass(frozen=True)
class RealTimeFate:
    """All runs of one query from its first start to its end.

    Attributes:
        source: Source of the query.
        rows: Initial number of orders.
        topics: Initial number of topics of a source with several topics.
        is_continuous: True if all runs are in continuous mode, because Spark cannot leave it.
        lives: All runs except the last run.
        trigger: Trigger of the last run, which reads all available rows.
        last: Options of the last run.
    """

    source: Source
    rows: int
    topics: int
    is_continuous: bool
    lives: tuple[LiveFate, ...]
    trigger: Mapping[str, Any]
    last: dict[str, str]


def fate(seed: int) -> RealTimeFate:
    """Return the events that a seed determines. These events are the same on every machine."""
    dice = random.Random(seed)
    # Any four successive seeds have all sources.
    source = tuple(Source)[seed % len(Source)]
    is_continuous = dice.random() < 0.25
    return RealTimeFate(
        source=source,
        rows=dice.choice([0, dice.randrange(300, 3000)]),
        topics=dice.randint(2, 4),
        is_continuous=is_continuous,
        lives=tuple(_lives(dice, source, is_continuous)),
        trigger=CONTINUOUS if is_continuous else REAL_TIME,
        last=_options(dice, source),
    )


def _lives(dice: random.Random, source: Source, is_continuous: bool) -> Iterator[LiveFate]:
    for _ in range(dice.randint(1, _MOST_LIVES)):
        events = list(_events(dice, source))
        yield LiveFate(
            trigger=CONTINUOUS if is_continuous else _trigger(dice),
            kill=any_kill(dice) if dice.random() < 0.6 else None,
            cores=dice.choice([1, 2, 2, 3]),
            options=_options(dice, source),
            more=dice.choice([0, 50, 400, 2000]),
            events=tuple(sorted(events, key=lambda event: event.after)),
            seconds=dice.choice([0.0, 0.5, 2.0, 5.0]),
        )


def _trigger(dice: random.Random) -> Mapping[str, Any]:
    lasts = dice.choice(["500 milliseconds", "1 second", "3 seconds", "10 minutes"])
    return dice.choice(
        [{"realTime": lasts}, {"realTime": lasts}, {"realTime": lasts}, MICRO_BATCH, AVAILABLE_NOW]
    )


def _events(dice: random.Random, source: Source) -> Iterator[Event | dynamic_fate.Event]:
    number = dice.choice([0, 1, 1, 2, 3])
    if source is Source.DYNAMIC:
        yield from (dynamic_fate.any_event(dice) for _ in range(number))
        if dice.random() < 0.5:
            yield replace(dynamic_fate.any_event(dice), what=dynamic_fate.What.DOWN)
        return
    yield from (_event(dice, dice.choice(EVENTS)) for _ in range(number))
    if source is Source.RECREATED and dice.random() < 0.6:
        yield _event(dice, What.RECREATE)


def _event(dice: random.Random, what: What) -> Event:
    return Event(
        what=what,
        after=dice.choice([0, 1, int(_ROWS_IN_A_LIFE * dice.random() ** 2)]),
        seconds=dice.choice([0.2, 2.0, 6.0]),
        broker=dice.randrange(3),
        rows=dice.choice([30, 300]),
        deadly=dice.random() < 0.2,
        which=dice.randrange(60),
        gap=dice.choice([0.0, 1.0, 6.0, 15.0]),
        share=0.0,
    )


def _options(dice: random.Random, source: Source) -> dict[str, str]:
    chosen = {
        "assigner": dice.choice(["balanced", "roundRobin", "hash"]),
        "discoveryInterval": dice.choice(["200ms", "2s"]),
        "endBatchOnChange": dice.choice(["true", "true", "false"]),
        # Fetches are small, so that most records are unread at a fault, or large.
        "kafka.max.partition.fetch.bytes": dice.choice(["16384", "4194304"]),
    }
    if source is Source.RECREATED:
        chosen["onTopicRemoved"] = dice.choice(["drop", "drain"])
    if source is Source.DYNAMIC:
        chosen |= {
            "cutover": dice.choice(["together", "stream"]),
            "clusterWait": dice.choice(["300ms", "2s"]),
            "maxRemovalFraction": dice.choice(["0.5", "1"]),
        }
    return chosen | ({"slots": dice.choice(["1", "2", "3"])} if dice.random() < 0.5 else {})
