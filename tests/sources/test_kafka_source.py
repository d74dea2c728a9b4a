# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The Kafka source as a stream and as a batch."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from conftest import MakeTopic
from faults.fetched import Fetched
from orders import orders
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import KafkaSource, KafkaSourceBuilder, OffsetsInitializer
from streams import drain, start, written

ORDERS = range(90)


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """A topic with 90 orders in 3 partitions."""
    name = make_topic()
    topics.produce(name, orders(ORDERS, 3))
    return name


@pytest.fixture
def source(topics: KafkaTopics, topic: str) -> KafkaSourceBuilder:
    """A builder for a source of that topic."""
    return KafkaSource.builder().bootstrap_servers(topics.bootstrap_servers).topics(topic)


def positions(frame: DataFrame) -> list[tuple[int, int]]:
    """Return partition and offset of each row, sorted."""
    rows = frame.select("partition", "offset").collect()
    return sorted((row.partition, row.offset) for row in rows)


def each(partitions: dict[int, Iterable[int]]) -> list[tuple[int, int]]:
    """Return partition and offset of the expected rows, sorted."""
    return sorted((p, offset) for p, offsets in partitions.items() for offset in offsets)


ALL = each(dict.fromkeys(range(3), range(30)))


def test_columns_equal_sparks_columns(spark: SparkSession, source: KafkaSourceBuilder) -> None:
    frame = source.option("includeHeaders", True).build().read(spark)
    assert frame.dtypes == [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int"),
        ("offset", "bigint"),
        ("timestamp", "timestamp"),
        ("timestampType", "int"),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
    assert positions(frame) == ALL


def test_a_start_by_time(spark: SparkSession, source: KafkaSourceBuilder, tmp_path: Path) -> None:
    begin = OffsetsInitializer.timestamp(datetime(2026, 1, 1, 0, 1, tzinfo=timezone.utc))
    built = source.starting_offsets(begin).build()
    drain(built.read_stream(spark), tmp_path)
    expected = each(dict.fromkeys(range(3), range(20, 30)))
    assert positions(written(spark, tmp_path)) == expected
    assert positions(built.read(spark)) == expected


def test_starts_and_ends_by_partition(
    spark: SparkSession, source: KafkaSourceBuilder, topic: str
) -> None:
    built = (
        source.starting_offsets(OffsetsInitializer.offsets({topic: {0: 5, 1: -2, 2: 29}}))
        .ending_offsets(OffsetsInitializer.offsets({topic: {0: 7, 1: 3, 2: -1}}))
        .build()
    )
    assert positions(built.read(spark)) == each({0: [5, 6], 1: [0, 1, 2], 2: [29]})


def test_latest_is_fixed_when_the_query_first_starts(
    spark: SparkSession, source: KafkaSourceBuilder, topics: KafkaTopics, topic: str, tmp_path: Path
) -> None:
    built = source.build()
    drain(built.read_stream(spark), tmp_path)
    topics.produce(topic, orders(range(90, 96), 3))
    drain(built.read_stream(spark), tmp_path)
    assert positions(written(spark, tmp_path)) == each(dict.fromkeys(range(3), range(30, 32)))


def test_the_groups_committed_offsets(
    spark: SparkSession, source: KafkaSourceBuilder, topics: KafkaTopics, topic: str
) -> None:
    topics.commit(f"group-{topic}", topic, {0: 28, 2: 30})
    begin = OffsetsInitializer.committed("earliest")
    built = source.starting_offsets(begin).option("kafka.group.id", f"group-{topic}").build()
    assert positions(built.read(spark)) == each({0: [28, 29], 1: range(30)})


def test_a_pattern_finds_topics(
    spark: SparkSession, topics: KafkaTopics, topic: str, make_topic: MakeTopic
) -> None:
    other = make_topic(1)
    topics.produce(other, orders(range(4), 1))
    built = (
        KafkaSource.builder()
        .bootstrap_servers(topics.bootstrap_servers)
        .topic_pattern(f"{topic}|{other}")
        .build()
    )
    counts = built.read(spark).groupBy("topic").count().collect()
    assert {row.topic: row["count"] for row in counts} == {topic: 90, other: 4}


def test_an_idle_reader_closes_and_the_next_batch_opens_a_reader(
    spark: SparkSession,
    source: KafkaSourceBuilder,
    topics: KafkaTopics,
    topic: str,
    tmp_path: Path,
) -> None:
    built = source.starting_offsets("earliest").option("readerIdleTimeout", "1s").build()
    query = start(built.read_stream(spark), tmp_path)
    try:
        wait_for("an open reader", lambda: Fetched(spark, topic).partitions() == 3)
        wait_for("the end of the reader", lambda: Fetched(spark, topic).partitions() == 0)
        assert query.isActive
        topics.produce(topic, orders(range(90, 120), 3))
        wait_for("all rows", lambda: query.isActive and written(spark, tmp_path).count() == 120)
    finally:
        query.stop()
    assert positions(written(spark, tmp_path)) == each(dict.fromkeys(range(3), range(40)))
