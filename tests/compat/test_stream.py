# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts of streams, ends of their batches, and changes of the log while they run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.pair import OURS, SIDES, SPARKS, Pair, offsets, records
from conftest import MakeTopic
from orders import FIRST_EVENT
from refusals import assert_says
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from streams import drain

EARLIEST = {"startingOffsets": "earliest"}


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic with 2 partitions of 10 and 5 records, one second apart."""
    name = make_topic(2)
    topics.produce(name, [*records(0, range(10)), *records(1, range(5))])
    return name


def by_partition(topic: str, *values: int) -> str:
    """Return the option value with one value per partition."""
    return json.dumps({topic: {str(p): value for p, value in enumerate(values)}})


@pytest.mark.parametrize(
    ("start", "first"),
    [
        ({"startingOffsets": "earliest", "includeHeaders": "true"}, (0, 0)),
        ({"startingOffsets": (-1, 3)}, (10, 3)),
        ({"startingOffsets": (-2, 5)}, (0, 5)),
        ({"startingTimestamp": FIRST_EVENT + 2000, "startingOffsets": "earliest"}, (2, 2)),
        (
            {
                "startingOffsetsByTimestamp": (FIRST_EVENT + 9000, FIRST_EVENT + 9000),
                "startingOffsetsByTimestampStrategy": "latest",
            },
            (9, 5),
        ),
    ],
)
def test_starts(pair: Pair, topic: str, start: dict[str, Any], first: tuple[int, int]) -> None:
    options = {
        key: by_partition(topic, *value) if isinstance(value, tuple) else value
        for key, value in start.items()
    }
    rows = pair.drain(subscribe=topic, **options)
    ends = zip(first, (10, 5), strict=True)
    assert offsets(rows) == [(p, o) for p, (a, b) in enumerate(ends) for o in range(a, b)]


def test_a_start_at_the_end_is_fixed_when_the_query_first_starts(pair: Pair, topic: str) -> None:
    assert pair.drain(subscribe=topic) == []
    pair.topics.produce(topic, [*records(0, range(10, 12)), *records(1, range(5, 7))])
    assert offsets(pair.drain(subscribe=topic)) == [(0, 10), (0, 11), (1, 5), (1, 6)]


def test_a_limit_is_shared_as_spark_shares_it(pair: Pair, make_topic: MakeTopic) -> None:
    topic = make_topic(4)
    sizes = (37, 11, 1, 0)
    for partition, size in enumerate(sizes):
        pair.topics.produce(topic, records(partition, range(size)))
    limited = {"subscribe": topic, "maxOffsetsPerTrigger": "9", **EARLIEST}
    assert len(pair.drain(**limited)) == sum(sizes)
    assert len(pair.ends(OURS)) > 4
    behind = [f"{which}OffsetsBehindLatest" for which in ("min", "max", "avg")]
    ours = [{key: report.get(key) for key in behind} for report in pair.metrics[OURS]]
    assert ours == pair.metrics[SPARKS]


def test_a_minimum_and_its_delay(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "minOffsetsPerTrigger": "8", "maxTriggerDelay": "1h", **EARLIEST}
    running = [pair.start(side, **options) for side in SIDES]
    try:
        _settle(running)
        for numbers in (range(10, 15), range(15, 20)):
            pair.topics.produce(topic, records(0, numbers))
            _settle(running)
        wait_for("the second batch", lambda: all(len(pair.ends(side)) == 2 for side in SIDES))
        _settle(running)
    finally:
        for query in running:
            query.stop()
    assert [end[topic]["0"] for end in pair.ends(OURS)] == [10, 20]
    assert len(pair.same()) == 25


def test_a_delay_that_ends(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "minOffsetsPerTrigger": "99", "maxTriggerDelay": "1s"}
    running = [pair.start(side, **options, **EARLIEST) for side in SIDES]
    try:
        _settle(running)
        pair.topics.produce(topic, records(0, range(10, 15)))
        wait_for("the second batch", lambda: all(len(pair.ends(side)) == 2 for side in SIDES))
        _settle(running)
    finally:
        for query in running:
            query.stop()
    assert len(pair.same()) == 20


def _settle(queries: list[Any]) -> None:
    for query in queries:
        query.processAllAvailable()


def test_subscriptions_that_grow(pair: Pair, topic: str, make_topic: MakeTopic) -> None:
    pattern = {"subscribePattern": f"^{topic}(-more)?$", **EARLIEST}
    assert len(pair.drain(**pattern)) == 15
    pair.topics.add_partitions(topic, 3)
    pair.topics.produce(topic, records(2, range(4)))
    pair.topics.create(f"{topic}-more")
    pair.topics.produce(f"{topic}-more", records(0, range(3)))
    assert len(pair.drain(**pattern)) == 22


def test_assigned_partitions(pair: Pair, topic: str) -> None:
    options = {"assign": json.dumps({topic: [1]}), **EARLIEST}
    assert len(pair.drain(**options)) == 5


def test_headers_and_tombstones(pair: Pair, make_topic: MakeTopic) -> None:
    topic = make_topic(1)
    written = [
        Record(b"v", b"k", 0, FIRST_EVENT, [("a", b"1"), ("a", b"2")]),
        Record(None, b"k", 0, FIRST_EVENT + 1),
        Record(None, None, 0, FIRST_EVENT + 2),
    ]
    pair.topics.produce(topic, written)
    rows = pair.drain(subscribe=topic, includeHeaders="true", **EARLIEST)
    assert [row[7] for row in rows] == [[("a", b"1"), ("a", b"2")], None, None]


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_transactions(pair: Pair, make_topic: MakeTopic, level: str) -> None:
    topic = make_topic(1)
    producer = pair.topics.producer(f"compat-{topic}")
    for first, end in ((0, producer.commit), (10, producer.abort), (20, producer.commit)):
        producer.begin()
        for record in records(0, range(first, first + 3)):
            producer.send(topic, record)
        producer.flush()
        end()
    producer.begin()
    producer.send(topic, Record("open", partition=0))
    producer.flush()
    options = {"subscribe": topic, "kafka.isolation.level": level, **EARLIEST}
    seen = len(pair.drain(**options, maxOffsetsPerTrigger="4"))
    assert seen == (6 if level == "read_committed" else 10)
    producer.commit()
    assert len(pair.drain(**options)) == (7 if level == "read_committed" else 10)


def test_a_compacted_topic(pair: Pair, make_topic: MakeTopic) -> None:
    compacting = {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
        "max.compaction.lag.ms": "100",
    }
    topic = make_topic(1, compacting)
    for number in range(20):
        pair.topics.produce(topic, [Record(f"v{number}", f"k{number % 3}", 0)])

    later: list[Record] = []

    def compacted() -> bool:
        # A record closes the segment of earlier records. No pass removes the records with later
        # keys, so both sources read the same log after the last pass over the first keys.
        later.append(Record("later", f"later-{len(later)}", 0))
        pair.topics.produce(topic, later[-1:])
        return sum((m.key() or b"").startswith(b"k") for m in pair.topics.records(topic)) == 3

    wait_for("the topic to be compacted", compacted)
    rows = pair.drain(subscribe=topic, maxOffsetsPerTrigger="5", **EARLIEST)
    assert len(rows) == 3 + len(later)


def test_retention_passes(pair: Pair, topic: str) -> None:
    pair.drain(subscribe=topic, **EARLIEST)
    pair.topics.produce(topic, records(0, range(10, 20)))
    pair.topics.delete_records(topic, {0: 15})
    theirs, ours = pair.fail(subscribe=topic)
    assert "failOnDataLoss" in theirs
    assert "failOnDataLoss" in ours
    rows = pair.drain(subscribe=topic, failOnDataLoss="false")
    assert [row[4] for row in rows if row[3] == 0] == [*range(10), *range(15, 20)]


def test_a_recreated_topic(pair: Pair, topic: str) -> None:
    pair.drain(subscribe=topic, **EARLIEST)
    pair.topics.delete(topic)
    pair.topics.create(topic, 2)
    pair.topics.produce(topic, records(0, range(3)))
    theirs, ours = pair.fail(subscribe=topic, **{"fetchOffset.retryIntervalMs": "10"})
    assert_says(theirs, "offset was changed from (10 to 3|5 to 0)")
    assert "SPLICE_KAFKA_DATA.TOPIC_RECREATED" in ours


def test_available_now_continues_after_a_partition_was_added(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "maxOffsetsPerTrigger": "6", **EARLIEST}
    for side in SIDES:
        failing = pair.stream(side, options).selectExpr("raise_error('stopped') AS value")
        with pytest.raises(Exception, match="stopped"):
            drain(failing, pair.folder / side)
    pair.topics.add_partitions(topic, 3)
    pair.topics.produce(topic, records(2, range(4)))
    assert len(pair.drain(**options)) == 19
