# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Changes of a chain at a restart, and legs with a custom rule."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from conftest import MakeTopic
from driver_log import DriverLog
from orders import (
    HISTORY_SELECT,
    LIVE_SELECT,
    archive,
    assert_each_once,
    history,
    history_then_live,
    ids,
    live,
    orders,
)
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import HandOver, HybridSource, KafkaSource
from streams import drain, written

PARTITIONS = 2
ORDERS = range(100)
LATER = range(100, 140)
ENDED = "sources/0/splice/leg-old/committed"
"""Entry of the commit of the first leg's end to its consumer group."""


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic, history_path: Path) -> str:
    """A topic with orders. The archive has the first 30 orders of each partition."""
    name = make_topic(PARTITIONS)
    topics.produce(name, orders(ORDERS, PARTITIONS))
    archive(topics, name, history_path, {0: 30, 1: 30})
    return name


def test_a_leg_that_has_ended_is_removed_and_the_rest_continues(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    source = history_then_live(history(history_path), live(topics, topic))
    drain(source.read_stream(spark), tmp_path)
    shutil.rmtree(history_path)
    topics.produce(topic, orders(LATER, PARTITIONS))
    alone = HybridSource.builder("live", live(topics, topic), select=LIVE_SELECT).build()
    drain(alone.read_stream(spark), tmp_path)
    drain(alone.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), [*ORDERS, *LATER])


def test_a_function_computes_the_start_once(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    calls: list[dict[str, Any]] = []

    def after_the_archive(evidence: dict[str, Any]) -> dict[str, Any]:
        calls.append(evidence)
        if len(calls) == 1:
            raise LookupError("no table of starts")
        starts = {p["partition"]: p["until"] for p in evidence["offsets"]}
        return {"offsets": {topic: starts}}

    def source() -> HybridSource:
        rule = HandOver.custom(after_the_archive, topic="topic")
        return (
            HybridSource.builder("history", history(history_path), select=HISTORY_SELECT)
            .add_source("live", live(topics, topic), hand_over=rule, select=LIVE_SELECT)
            .build()
        )

    with pytest.raises(StreamingQueryException, match="no table of starts"):
        drain(source().read_stream(spark), tmp_path)
    drain(source().read_stream(spark), tmp_path)
    topics.produce(topic, orders(LATER, PARTITIONS))
    drain(source().read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), [*ORDERS, *LATER])
    assert len(calls) == 2
    assert calls[1]["log"] == {topic: {"0": [0, 50], "1": [0, 50]}}
    assert [p["until"] for p in calls[1]["offsets"]] == [30, 30]


def bounded(topics: KafkaTopics, topic: str, group: str) -> KafkaSource:
    """Return a source that reads a topic to its current end, and commits the end to a group."""
    return (
        KafkaSource.builder()
        .bootstrap_servers(topics.bootstrap_servers)
        .topics(topic)
        .starting_offsets("earliest")
        .ending_offsets("latest")
        .commit_to_group(group)
        .build()
    )


def remove(checkpoint: Path, *files: str) -> None:
    """Remove files of a checkpoint, to simulate a kill before the driver stored the files."""
    for file in map(checkpoint.joinpath, files):
        file.unlink()
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def test_the_run_that_repeats_a_switch_commits_the_end_of_the_log_before(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    old, new = make_topic(PARTITIONS), make_topic(PARTITIONS)
    topics.produce(old, orders(ORDERS, PARTITIONS))
    topics.produce(new, orders(LATER, PARTITIONS))

    def source(group: str) -> HybridSource:
        then = live(topics, new, startingOffsets="earliest")
        return (
            HybridSource.builder("old", bounded(topics, old, group), select=LIVE_SELECT)
            .add_source("new", then, select=LIVE_SELECT)
            .build()
        )

    drain(source("before").read_stream(spark), tmp_path)
    assert topics.committed("before", old) == dict.fromkeys(range(PARTITIONS), 50)
    remove(tmp_path / "checkpoint", "commits/1", ENDED)
    topics.produce(new, orders(range(200, 210), PARTITIONS))
    # Spark runs the batch again, because the sink has no log.
    query = (
        source("after")
        .read_stream(spark)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    wait_for("the query to end", lambda: query.awaitTermination(1))
    assert topics.committed("after", old) == dict.fromkeys(range(PARTITIONS), 50)


def test_a_start_without_a_leg_warns_that_the_end_of_the_leg_was_not_committed(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    old, new = make_topic(PARTITIONS), make_topic(PARTITIONS)
    topics.produce(old, orders(ORDERS, PARTITIONS))
    topics.produce(new, orders(LATER, PARTITIONS))
    then = live(topics, new, startingOffsets="earliest")
    alone = HybridSource.builder("new", then, select=LIVE_SELECT).build()
    both = (
        HybridSource.builder("old", bounded(topics, old, "ended"), select=LIVE_SELECT)
        .add_source("new", then, select=LIVE_SELECT)
        .build()
    )
    warning = "Leg 'old' was removed from the chain before Splice committed the end"
    drain(both.read_stream(spark), tmp_path)
    topics.produce(new, orders(range(200, 210), PARTITIONS))
    with DriverLog(spark, tmp_path) as log:
        drain(alone.read_stream(spark), tmp_path)
        assert not log.has(warning)
    remove(tmp_path / "checkpoint", ENDED)
    topics.produce(new, orders(range(210, 220), PARTITIONS))
    with DriverLog(spark, tmp_path) as log:
        drain(alone.read_stream(spark), tmp_path)
        assert log.has(warning)
    assert_each_once(ids(written(spark, tmp_path)), [*ORDERS, *LATER, *range(200, 220)])
