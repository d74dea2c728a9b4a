# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each difference in the table of the guide."""

from __future__ import annotations

import functools
import json

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from compat.pair import OURS, SIDES, SPARKS, Pair, contents, offsets, records
from conftest import MakeTopic
from refusals import assert_says
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from streams import drain, written

EARLIEST = {"startingOffsets": "earliest"}


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic with one partition and 10 records."""
    name = make_topic(1)
    topics.produce(name, records(0, range(10)))
    return name


def test_a_minimum_under_available_now(pair: Pair, topic: str) -> None:
    options = {"minOffsetsPerTrigger": "4", "maxOffsetsPerTrigger": "8", "maxTriggerDelay": "1h"}
    counts = {}
    for side in SIDES:
        folder = pair.folder / side
        drain(pair.stream(side, {"subscribe": topic, **EARLIEST, **options}), folder)
        counts[side] = written(pair.spark, folder).count()
    assert counts == {SPARKS: 8, OURS: 10}


def test_a_topic_deleted_under_available_now(pair: Pair, topic: str) -> None:
    options = {"maxOffsetsPerTrigger": "4", "failOnDataLoss": "false", **EARLIEST}
    ends = {}
    for side in SIDES:
        other = f"{topic}-{side}"
        pair.topics.create(other)
        pair.topics.produce(other, records(0, range(1)))
        seen: list[tuple[int, int]] = []

        def write(
            rows: DataFrame, batch: int, seen: list[tuple[int, int]] = seen, other: str = other
        ) -> None:
            seen.extend(offsets(contents(rows)))
            if batch == 0:
                pair.topics.delete(other)

        stream = pair.stream(side, {"subscribePattern": f"^{topic}(-{side})?$", **options})
        query = stream.writeStream.foreachBatch(write).trigger(availableNow=True)
        running = query.option("checkpointLocation", str(pair.folder / side)).start()
        wait_for("the query to end", functools.partial(_has_ended, running))
        ends[side] = (len(seen), str(running.exception()))
    assert "have been lost during running query with Trigger.AvailableNow" in ends[SPARKS][1]
    assert ends[OURS] == (11, "None")


def test_a_start_beyond_the_end(pair: Pair, topic: str) -> None:
    start = json.dumps({topic: {"0": 12}})
    theirs, ours = pair.fail(subscribe=topic, startingOffsets=start)
    assert_says(theirs, "offset was changed from 12 to 10")
    assert_says(ours, "SPLICE_KAFKA_DATA.START_BEYOND_END_OF_LOG", f"{topic}-0: 12")


def test_assigned_partitions_that_do_not_exist(pair: Pair, topic: str) -> None:
    options = {"assign": json.dumps({topic: [0, 3]}), **EARLIEST}
    drain(pair.stream(SPARKS, options), pair.folder / SPARKS)
    assert written(pair.spark, pair.folder / SPARKS).count() == 10
    assert_says(
        pair.failure(OURS, options), "SPLICE_KAFKA_OPTION.PARTITION_NOT_FOUND", f"{topic}-3"
    )


def test_unknown_options(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "topic": "for-the-sink", "startOffsets": "earliest"}
    assert pair.batch(SPARKS, options).count() == 10
    with pytest.raises(Exception, match="Did you mean 'startingOffsets'"):
        pair.batch(OURS, {**options, "onUnknownOption": "fail"})
    assert pair.batch(OURS, {**options, "onUnknownOption": "warn"}).count() == 10


def test_an_end_makes_a_stream_bounded(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "endingOffsets": json.dumps({topic: {"0": 6}}), **EARLIEST}
    assert_says(pair.failure(SPARKS, options), "ending offset not valid in streaming queries")
    drain(pair.stream(OURS, options), pair.folder / OURS)
    assert written(pair.spark, pair.folder / OURS).count() == 6


def test_a_recreated_topic_that_has_grown(pair: Pair, topic: str) -> None:
    pair.drain(subscribe=topic, **EARLIEST)
    pair.topics.delete(topic)
    pair.topics.create(topic)
    pair.topics.produce(topic, records(0, range(13)))
    drain(pair.stream(SPARKS, {"subscribe": topic}), pair.folder / SPARKS)
    assert written(pair.spark, pair.folder / SPARKS).count() == 13
    assert "SPLICE_KAFKA_DATA.TOPIC_RECREATED" in pair.failure(OURS, {"subscribe": topic})


def _has_ended(query: StreamingQuery) -> bool:
    return not query.isActive
