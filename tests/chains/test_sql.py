# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The main job as a SQL table."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import (
    archive,
    assert_each_once,
    history,
    history_then_live,
    ids,
    live,
    orders,
)
from servers.kafka.topics import KafkaTopics
from streams import drain, written

ORDERS = range(90)


@pytest.fixture
def table(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, history_path: Path
) -> Iterator[str]:
    """A table over an archive and its topic."""
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(topics, topic, history_path, {0: 10, 1: 20, 2: 30})
    options = history_then_live(history(history_path), live(topics, topic)).options()
    clause = ", ".join(f"'{name}' = {_literal(value)}" for name, value in options.items())
    name = f"orders_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {name} USING splice OPTIONS ({clause})")
    yield name
    spark.sql(f"DROP TABLE {name}")


def _literal(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_a_select_is_a_batch_with_the_columns_of_the_legs(spark: SparkSession, table: str) -> None:
    frame = spark.sql(f"SELECT order_id, _leg FROM {table}")
    assert not frame.isStreaming
    assert_each_once(ids(frame), ORDERS)
    assert frame.where("_leg = 'history'").count() == 60
    described = {row.col_name: row.data_type for row in spark.sql(f"DESCRIBE {table}").collect()}
    assert described["order_id"] == "string"
    assert described["amount"] == "double"
    assert described["event_time"] == "timestamp"


def test_the_stream_reader_reads_the_table(spark: SparkSession, table: str, tmp_path: Path) -> None:
    drain(spark.readStream.table(table), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)


def test_a_view_over_the_stream(spark: SparkSession, table: str, tmp_path: Path) -> None:
    view = f"view_of_{table}"
    spark.sql(f"CREATE VIEW {view} AS SELECT order_id FROM STREAM {table} WHERE amount >= 0")
    try:
        drain(spark.table(view), tmp_path)
    finally:
        spark.sql(f"DROP VIEW {view}")
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)


def test_options_of_a_query_are_added(spark: SparkSession, table: str, tmp_path: Path) -> None:
    frame = spark.sql(
        f"SELECT order_id FROM STREAM {table} WITH ('live.maxOffsetsPerTrigger' = '5')"
    )
    assert frame.isStreaming
    query = drain(frame, tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    live_batches = [r for r in query.recentProgress if 0 < r["numInputRows"] <= 5]
    assert len(live_batches) >= 30 / 5
