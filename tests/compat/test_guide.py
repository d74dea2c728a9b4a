# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The code of the guide to migrate from Spark's Kafka source, with a batch that runs twice."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from compat.pair import OURS, SPARKS, Pair, records
from conftest import MakeTopic
from orders import orders
from pages.page import Page
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for

PAGE = Page("docs/from-sparks-kafka.md")


def read(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    """Read a topic as in the guide."""
    # --8<-- [start:one-word]
    orders = (
        spark.readStream.format("splice-kafka")  # was "kafka"
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 500_000)
        .load()
    )
    # --8<-- [end:one-word]
    return orders.selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)")


# --8<-- [start:sink]
def write_once(database: Path, query: str, rows: DataFrame, batch: int) -> None:
    """Write a batch and its id in one transaction, unless the database already has the batch."""
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT, value TEXT)")
        connection.execute("CREATE TABLE IF NOT EXISTS written (query TEXT, batch INTEGER)")
        (last,) = connection.execute(
            "SELECT max(batch) FROM written WHERE query = ?", (query,)
        ).fetchone()
        if last is not None and batch <= last:
            return
        connection.executemany("INSERT INTO orders VALUES (?, ?)", rows.toLocalIterator())
        connection.execute("INSERT INTO written VALUES (?, ?)", (query, batch))


# --8<-- [end:sink]


def test_a_batch_that_runs_twice_is_written_once(
    pair: Pair, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, database = make_topic(1), tmp_path / "orders.db"

    def run(source: str, *, dies: bool) -> StreamingQuery:
        def write(rows: DataFrame, batch: int) -> None:
            write_once(database, "orders-to-sqlite", rows, batch)
            if dies:
                raise RuntimeError("killed between the sink's commit and Spark's")

        if source == OURS:
            stream = read(pair.spark, pair.topics.bootstrap_servers, topic)
        else:
            options = {"subscribe": topic, "startingOffsets": "earliest"}
            stream = pair.stream(source, options).selectExpr(
                "CAST(key AS STRING)", "CAST(value AS STRING)"
            )
        query = (
            stream.writeStream.foreachBatch(write)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        wait_for("the query to end", lambda: query.awaitTermination(1))
        return query

    pair.topics.produce(topic, records(0, range(5)))
    with pytest.raises(Exception, match="killed between"):
        run(SPARKS, dies=True)
    run(OURS, dies=False)
    pair.topics.produce(topic, records(0, range(5, 9)))
    with pytest.raises(Exception, match="killed between"):
        run(OURS, dies=True)
    run(SPARKS, dies=False)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT id, value FROM orders").fetchall()
    assert found == [(f"k{number}", f"v{number}") for number in range(9)]


def test_the_query_of_the_page(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, database = make_topic(1), tmp_path / "orders.db"
    topics.produce(topic, orders(range(5), 1))
    (block,) = PAGE.blocks("python")
    names = {
        "orders": read(spark, topics.bootstrap_servers, topic),
        "write_once": write_once,
        "database": database,
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    query = PAGE.run(block, {}, names)["query"]
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (5,)
    PAGE.assert_all_executed()
