# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts, ends and rows of bounded reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.pair import Pair, offsets, records
from conftest import MakeTopic
from orders import FIRST_EVENT
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic with 2 partitions of 10 and 5 records, one second apart."""
    name = make_topic(2)
    topics.produce(name, [*records(0, range(10)), *records(1, range(5))])
    return name


def by_partition(topic: str, *values: int) -> str:
    """Return the option value with one value per partition."""
    return json.dumps({topic: {str(p): value for p, value in enumerate(values)}})


def at(second: int) -> int:
    """Return the timestamp of the record with a number."""
    return FIRST_EVENT + second * 1000


def expected(first: range, second: range) -> list[tuple[int, int]]:
    """Return the positions of two partitions."""
    return [*((0, offset) for offset in first), *((1, offset) for offset in second)]


@pytest.mark.parametrize(
    ("bounds", "rows"),
    [
        ({}, expected(range(10), range(5))),
        ({"startingOffsets": "EARLIEST", "endingOffsets": "Latest"}, expected(range(10), range(5))),
        ({"startingOffsets": (3, -2)}, expected(range(3, 10), range(5))),
        ({"startingOffsets": (3, -2), "endingOffsets": (5, -1)}, expected(range(3, 5), range(5))),
        ({"endingOffsets": (0, 2)}, expected(range(0), range(2))),
        ({"startingTimestamp": at(2)}, expected(range(2, 10), range(2, 5))),
        (
            {"startingTimestamp": at(7), "startingOffsetsByTimestampStrategy": "latest"},
            expected(range(7, 10), range(0)),
        ),
        (
            {"startingOffsetsByTimestamp": (at(4), at(1)), "endingTimestamp": at(6)},
            expected(range(4, 6), range(1, 5)),
        ),
        ({"endingOffsetsByTimestamp": (at(1), at(3))}, expected(range(1), range(3))),
        (
            {"startingTimestamp": at(8), "startingOffsets": "latest", "endingTimestamp": at(99)}
            | {"startingOffsetsByTimestampStrategy": "latest"},
            expected(range(8, 10), range(0)),
        ),
    ],
)
def test_starts_and_ends(
    pair: Pair, topic: str, bounds: dict[str, Any], rows: list[tuple[int, int]]
) -> None:
    written = {
        key: by_partition(topic, *value) if isinstance(value, tuple) else value
        for key, value in bounds.items()
    }
    assert offsets(pair.read(subscribe=topic, **written)) == rows


def test_subscriptions(pair: Pair, topic: str, make_topic: MakeTopic) -> None:
    other = make_topic(1)
    pair.topics.produce(other, records(0, range(2)))
    assert len(pair.read(subscribe=f"{topic}, {other}")) == 17
    assert len(pair.read(assign=json.dumps({topic: [1], other: [0]}))) == 7
    # A pattern matches a part of the name.
    for pattern in (topic, f"{topic}|{other}", topic[3:-1], f"^{topic[:-1]}", f"^{topic[:-1]}$"):
        pair.read(subscribePattern=pattern)


def test_headers_tombstones_and_times(pair: Pair, make_topic: MakeTopic) -> None:
    topic = make_topic(1)
    twice = [("a", b"1"), ("a", b""), ("b", b"\x00\xff")]
    written = [
        Record(b"v", b"k", 0, FIRST_EVENT, twice),
        Record(None, b"k", 0, FIRST_EVENT + 1),
        Record(b"v", None, 0, FIRST_EVENT + 2),
        Record(b"", b"", 0, 1),
    ]
    pair.topics.produce(topic, written)
    assert len(pair.read(subscribe=topic, includeHeaders="true")) == 4
    assert len(pair.read(subscribe=topic, includeHeaders="TRUE", startingTimestamp=FIRST_EVENT)) > 0
    logged = make_topic(1, {"message.timestamp.type": "LogAppendTime"})
    pair.topics.produce(logged, written)
    assert [row[6] for row in pair.read(subscribe=logged)] == [1] * 4


def test_removed_records(pair: Pair, topic: str) -> None:
    pair.topics.delete_records(topic, {0: 4})
    assert offsets(pair.read(subscribe=topic)) == expected(range(4, 10), range(5))
    early = {"subscribe": topic, "startingOffsets": by_partition(topic, 2, 0)}
    rows = pair.read(**early, failOnDataLoss="false")
    assert offsets(rows) == expected(range(4, 10), range(5))
