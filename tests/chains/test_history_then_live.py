# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The main job: an archive in Parquet, then its topic, each row once."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from conftest import MakeTopic
from orders import (
    FIRST_EVENT,
    archive,
    assert_each_once,
    history,
    history_then_live,
    ids,
    live,
    order_id,
    orders,
)
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import HybridSource, SourceDescription, describe
from streams import drain, start, written

PARTITIONS = 3
ORDERS = range(600)
ARCHIVED = {0: 150, 1: 0, 2: 200}
LATER = range(600, 750)


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic, history_path: Path) -> str:
    """A topic with orders. The archive has some of these orders."""
    name = make_topic(PARTITIONS)
    topics.produce(name, orders(ORDERS, PARTITIONS))
    assert archive(topics, name, history_path, ARCHIVED) == sum(ARCHIVED.values())
    return name


@pytest.fixture
def source(topics: KafkaTopics, topic: str, history_path: Path) -> HybridSource:
    """A chain of the archive and the topic."""
    return history_then_live(history(history_path), live(topics, topic))


def test_each_row_once_with_its_values(
    spark: SparkSession, source: HybridSource, tmp_path: Path
) -> None:
    stream = source.read_stream(spark)
    assert stream.isStreaming
    assert stream.columns == ["order_id", "amount", "event_time"]
    drain(stream.select("*", "_leg"), tmp_path)
    out = written(spark, tmp_path)
    assert_each_once(ids(out), ORDERS)
    rows = {row.order_id: row for row in out.collect()}
    assert Counter(row["_leg"] for row in rows.values()) == {"history": 350, "live": 250}
    for number in (0, 299, 447, 450, 598, 599):
        row = rows[order_id(number)]
        assert row.amount == number / 4
        seconds = FIRST_EVENT / 1000 + number
        assert row.event_time.astimezone(timezone.utc) == datetime.fromtimestamp(
            seconds, timezone.utc
        )


def test_restarts_read_new_records_and_partitions_without_the_ended_history(
    spark: SparkSession,
    source: HybridSource,
    topics: KafkaTopics,
    topic: str,
    history_path: Path,
    tmp_path: Path,
) -> None:
    drain(source.read_stream(spark), tmp_path)
    shutil.move(history_path, tmp_path / "elsewhere")
    topics.produce(topic, orders(LATER[:100], PARTITIONS))
    drain(source.read_stream(spark), tmp_path)
    topics.add_partitions(topic, PARTITIONS + 1)
    topics.produce(topic, orders(LATER[100:], PARTITIONS + 1))
    drain(source.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), [*ORDERS, *LATER])


def test_the_stream_reads_later_records(
    spark: SparkSession,
    source: HybridSource,
    topics: KafkaTopics,
    topic: str,
    tmp_path: Path,
) -> None:
    query = start(source.read_stream(spark), tmp_path)
    try:
        query.processAllAvailable()
        topics.produce(topic, orders(LATER, PARTITIONS))
        query.processAllAvailable()
        described = wait_for("the progress of the last batch", lambda: _caught_up(query))
    finally:
        query.stop()
    assert_each_once(ids(written(spark, tmp_path)), [*ORDERS, *LATER])
    assert described.leg == "live"
    assert described.switches_total == 1
    assert described.splits == PARTITIONS


def _caught_up(query: StreamingQuery) -> SourceDescription | None:
    sources = describe(query).sources
    return sources[0] if sources and sources[0].rows_behind == 0 else None


def test_a_batch_reads_all_legs(spark: SparkSession, source: HybridSource) -> None:
    frame = source.read(spark)
    assert not frame.isStreaming
    assert_each_once(ids(frame), ORDERS)
    assert frame.agg(f.sum("amount")).collect()[0][0] == sum(n / 4 for n in ORDERS)
    assert frame.where("_leg = 'history'").count() == sum(ARCHIVED.values())


def test_the_alias_implies_the_source(spark: SparkSession, source: HybridSource) -> None:
    options = source.options()
    del options["source"]
    assert_each_once(ids(spark.read.format("splice-hybrid").options(**options).load()), ORDERS)


def test_limits_of_each_leg_count_in_that_leg(
    spark: SparkSession,
    topics: KafkaTopics,
    topic: str,
    history_path: Path,
    tmp_path: Path,
) -> None:
    files = len(list(history_path.glob("*.parquet")))
    limited = history_then_live(
        history(history_path, maxFilesPerTrigger="1"),
        live(topics, topic, maxOffsetsPerTrigger="50"),
    )
    query = start(limited.read_stream(spark), tmp_path)
    try:
        query.processAllAvailable()
        reports = [r for r in query.recentProgress if r["numInputRows"]]
    finally:
        query.stop()
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    live_rows = [r["numInputRows"] for r in reports[files:]]
    assert max(live_rows) <= 50
    assert len(live_rows) >= 250 / 50


@pytest.mark.parametrize("column", ["partition", "topic"])
def test_hand_over_columns_may_be_partition_columns(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    column: str,
) -> None:
    topic = make_topic(PARTITIONS)
    topics.produce(topic, orders(ORDERS, PARTITIONS))
    archive(topics, topic, tmp_path / "history", ARCHIVED, partition_by=column)
    source = history_then_live(history(tmp_path / "history"), live(topics, topic))
    drain(source.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)


def test_two_queries_of_one_session_do_not_meet(
    spark: SparkSession,
    source: HybridSource,
    topics: KafkaTopics,
    topic: str,
    tmp_path: Path,
) -> None:
    queries = [start(source.read_stream(spark), tmp_path / name) for name in "ab"]
    try:
        for query in queries:
            query.processAllAvailable()
        topics.produce(topic, orders(LATER, PARTITIONS))
        for query in queries:
            query.processAllAvailable()
    finally:
        for query in queries:
            query.stop()
    for name in "ab":
        assert_each_once(ids(written(spark, tmp_path / name)), [*ORDERS, *LATER])


def test_a_table_can_be_read_twice_in_one_query(
    spark: SparkSession, source: HybridSource, tmp_path: Path
) -> None:
    stream = source.read_stream(spark)
    drain(stream.union(source.read_stream(spark)), tmp_path)
    found = ids(written(spark, tmp_path))
    assert len(found) == 2 * len(ORDERS)
    assert_each_once(sorted(found)[::2], ORDERS)
