# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Values of Kafka records that readers parse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import archive, history, live, orders
from refusals import assert_says, failure
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from splice import HandOver, HybridSource
from streams import drain, written

JSON = {
    "startingOffsets": "earliest",
    "valueFormat": "json",
    "valueSchema": "amount DOUBLE, at TIMESTAMP",
}


@pytest.fixture
def poisoned(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """A topic with one partition: a valid value, an invalid value, a tombstone, a valid value."""
    topic = make_topic(1)
    topics.produce(topic, [Record(v) for v in ('{"amount":1}', b"\xff\x00{", None, '{"amount":2}')])
    return topic


def test_an_invalid_record_does_not_stop_a_stream(
    spark: SparkSession, topics: KafkaTopics, poisoned: str, tmp_path: Path
) -> None:
    source = live(topics, poisoned, **JSON, onParseError="corrupt")
    drain(source.read_stream(spark), tmp_path)
    rows = written(spark, tmp_path).orderBy("offset").collect()
    assert [row.value and row.value.amount for row in rows] == [1.0, None, None, 2.0]
    bad = rows[1]["_corrupt"]
    assert (bad.topic, bad.partition, bad.offset) == (poisoned, 0, 1)
    assert bytes(bad.bytes) == b"\xff\x00{"
    assert [row["_corrupt"] is None for row in rows] == [True, False, True, True]
    corrupt = source.read(spark).where("_corrupt IS NOT NULL").select("_corrupt.offset")
    assert [row.offset for row in corrupt.collect()] == [1]


def test_or_is_null_or_fails(
    spark: SparkSession, topics: KafkaTopics, poisoned: str, tmp_path: Path
) -> None:
    source = live(topics, poisoned, **JSON, onParseError="null")
    assert source.read(spark).where("value IS NULL").count() == 2
    text = failure(spark, live(topics, poisoned, **JSON), tmp_path)
    assert_says(
        text, "SPLICE_KAFKA_DATA.INVALID_VALUE", f"{poisoned}-0 at offset 1", "'onParseError'"
    )
    assert live(topics, poisoned, **JSON).read(spark).select("offset").count() == 4


def test_strings(spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic) -> None:
    topic = make_topic(1)
    topics.produce(topic, [Record("1;x")])
    assert live(topics, topic, valueFormat="string").read(spark).first().value == "1;x"  # type: ignore[union-attr]


@contextmanager
def time_zone(spark: SparkSession, zone: str) -> Iterator[None]:
    """Set another time zone of the session within the block."""
    before = spark.conf.get("spark.sql.session.timeZone", "UTC")
    assert before
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_the_time_zone_stays_that_of_the_first_start(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(1)
    nine = Record(json.dumps({"at": "2026-01-01 09:00:00"}))
    source = live(topics, topic, **JSON)
    for zone in ("Asia/Tokyo", "UTC"):
        topics.produce(topic, [nine])
        with time_zone(spark, zone):
            drain(source.read_stream(spark), tmp_path)
    rows = written(spark, tmp_path).select("value.at").collect()
    found = {row.at.astimezone(timezone.utc) for row in rows}
    assert found == {datetime(2026, 1, 1, tzinfo=timezone.utc)}


def test_as_a_leg(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(range(30), 3))
    archive(topics, topic, history_path, {0: 5, 1: 5, 2: 5})
    parsed = live(topics, topic, valueFormat="json", valueSchema="amount DOUBLE")
    both = (
        HybridSource.builder("history", history(history_path), select="order_id, amount")
        .add_source(
            "live",
            parsed,
            select="CAST(key AS STRING) AS order_id, value.amount AS amount",
            hand_over=HandOver.offsets(),
        )
        .build()
    )
    drain(both.read_stream(spark), tmp_path)
    amounts = [row.amount for row in written(spark, tmp_path).collect()]
    assert sorted(amounts) == [number / 4 for number in range(30)]
