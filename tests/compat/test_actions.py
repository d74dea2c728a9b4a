# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Several actions on one DataFrame of a bounded read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame

from compat.pair import OURS, SIDES, SPARKS, Pair, contents, offsets, records
from conftest import MakeTopic
from servers.kafka.topics import KafkaTopics

# Spark plans a DataFrame once for all of these actions.
PLANNED_ONCE: dict[str, Callable[[DataFrame], int]] = {
    "collect": lambda frame: len(frame.collect()),
    "toLocalIterator": lambda frame: len(list(frame.toLocalIterator())),
    "rdd": lambda frame: frame.rdd.count(),
    "localCheckpoint": lambda frame: frame.localCheckpoint().count(),
}

PLANNED_AGAIN: dict[str, Callable[[DataFrame], int]] = {
    "count": lambda frame: frame.count(),
    "take": lambda frame: len(frame.take(1000)),
    "select": lambda frame: len(frame.select("value").collect()),
}


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic with one partition and 10 records."""
    name = make_topic(1)
    topics.produce(name, records(0, range(10)))
    return name


@pytest.mark.parametrize("action", [*PLANNED_ONCE, *PLANNED_AGAIN])
def test_an_action_that_is_repeated(pair: Pair, topic: str, action: str) -> None:
    run = {**PLANNED_ONCE, **PLANNED_AGAIN}[action]
    frames = {side: pair.batch(side, {"subscribe": topic}) for side in SIDES}
    assert [run(frames[side]) for side in SIDES] == [10, 10]
    pair.topics.produce(topic, records(0, range(10, 15)))
    again = {side: run(frame) for side, frame in frames.items()}
    # Spark's source resolves earliest and latest in each task.
    assert again == {SPARKS: 15, OURS: 10 if action in PLANNED_ONCE else 15}


@pytest.mark.parametrize("gone", [4, 10])
def test_records_that_retention_removes_between_two_actions(
    pair: Pair, topic: str, gone: int
) -> None:
    options = {"subscribe": topic, "failOnDataLoss": "false"}
    frames = {side: pair.batch(side, options) for side in SIDES}
    for frame in frames.values():
        assert len(frame.collect()) == 10
    pair.topics.delete_records(topic, {0: gone})
    left = [(0, offset) for offset in range(gone, 10)]
    for frame in frames.values():
        assert sorted((row["partition"], row["offset"]) for row in frame.collect()) == left
        assert offsets(contents(frame)) == left


def test_a_second_action_applies_the_policy(pair: Pair, topic: str) -> None:
    frames = {side: pair.batch(side, {"subscribe": topic}) for side in SIDES}
    for frame in frames.values():
        assert len(frame.collect()) == 10
    pair.topics.delete_records(topic, {0: 4})
    assert len(frames[SPARKS].collect()) == 6
    with pytest.raises(Exception, match=f"SPLICE_KAFKA_DATA.DATA_LOSS.*{topic}-0 .0, 4."):
        frames[OURS].collect()
    assert frames[OURS].count() == 6
