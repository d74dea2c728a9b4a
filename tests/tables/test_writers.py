# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the recipes for the tables of writers, over tables in the form of each writer.

The package `deltalake` writes the transactions of kafka-delta-ingest. Spark writes the columns and
the summaries of the Iceberg sink of Kafka Connect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, Transaction, write_deltalake
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from orders import assert_each_once, ids, live, order_id
from pages.page import Page
from servers.kafka.topics import KafkaTopics
from splice import HandOver, HybridSource, TableSource
from streams import drain, written
from tables import formats

PAGE = Page("docs/tables.md", by="tests/tables/test_writers.py")
INGEST, COLUMNS, VALID_THROUGH = range(3)

KEY = "CAST(key AS STRING) AS order_id"
TABLE = "lake.sales.orders"
TIME = "kafka.connect.valid-through-ts"

delta = pytest.mark.skipif(not formats.HAS_DELTA, reason=formats.WITHOUT_DELTA)
iceberg = pytest.mark.skipif(not formats.HAS_ICEBERG, reason=formats.WITHOUT_ICEBERG)


def recipe(
    number: int, shown: Mapping[str, str] | None = None, spark: SparkSession | None = None
) -> HandOver:
    """Execute a block of the page, and return its rule."""
    block = PAGE.blocks("python")[number]
    names = PAGE.run(block, shown or {}, {"HandOver": HandOver, "spark": spark})
    rule: HandOver = names["hand_over"]
    return rule


def ingest(table: str, archive: Path, ranges: Mapping[int, range]) -> None:
    """Append records of partitions in one commit, with a transaction per partition."""
    rows = pq.read_table(archive)
    taken = [
        partition in ranges and offset in ranges[partition]
        for partition, offset in zip(
            rows["partition"].to_pylist(), rows["offset"].to_pylist(), strict=True
        )
    ]
    last = [Transaction(f"ingest-{p}", offsets[-1]) for p, offsets in ranges.items()]
    properties = CommitProperties(app_transactions=last)
    orders = rows.filter(taken).select(["order_id", "amount"])
    write_deltalake(table, orders, mode="append", commit_properties=properties)


def ingested(table: str, topics: KafkaTopics, topic: str) -> HybridSource:
    """Return a chain of version 1 of a table and its topic."""
    shown = {'"/lake/orders"': f'"{table}"', '"orders"': f'"{topic}"'}
    history = TableSource.format("delta").option("path", table).version_as_of(1).build()
    rule = recipe(INGEST, shown)
    return history.then(live(topics, topic), hand_over=rule, select=("order_id", KEY))


@delta
def test_the_log_begins_after_the_transactions_of_the_pinned_version(
    lake: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    table = str(tmp_path / "table")
    ingest(table, history_path, {0: range(10)})
    # No record of partition 2 is in version 1.
    ingest(table, history_path, {1: range(4)})
    ingest(table, history_path, {1: range(4, 10), 2: range(10)})
    drain(ingested(table, topics, topic).read_stream(lake), tmp_path)
    assert_each_once(ids(written(lake, tmp_path)), range(60))
    assert lake.read.format("delta").load(table).count() == 30


@delta
def test_a_table_without_the_transactions_is_an_error(
    lake: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    table = str(tmp_path / "table")
    for _ in range(2):
        write_deltalake(table, pq.read_table(history_path).select(["order_id"]), mode="append")
    with pytest.raises(PySparkException, match="no transaction of the app id"):
        ingested(table, topics, topic).read(lake).collect()


@pytest.fixture
def snapshots(lake: SparkSession, topic: str, history_path: Path) -> list[str]:
    """Ids of three snapshots of a table with the columns of `KafkaMetadataTransform`.

    A partition without new records has no time, so the second snapshot has no time.
    """
    names = [f"{name} AS _kafka_metadata_{name}" for name in ("topic", "partition", "offset")]
    archived = lake.read.parquet(str(history_path)).coalesce(1)
    lake.sql(f"DROP TABLE IF EXISTS {TABLE}")
    archived.limit(0).selectExpr("order_id", *names).writeTo(TABLE).using("iceberg").create()
    for rows, time in (
        ("offset < 6", "2026-01-01T00:00:15Z"),
        ("offset IN (6, 7) AND partition = 0", None),
        ("offset > 7 OR offset > 5 AND partition > 0", "2026-01-01T00:00:27Z"),
    ):
        writer = archived.where(rows).selectExpr("order_id", *names).writeTo(TABLE)
        if time:
            writer = writer.option(f"snapshot-property.{TIME}", time)
        writer.append()
    found = lake.sql(f"SELECT snapshot_id, summary FROM {TABLE}.snapshots ORDER BY committed_at")
    # The first snapshot is the snapshot of `create`.
    made = found.collect()[1:]
    assert [TIME in row.summary for row in made] == [True, False, True]
    return [str(row.snapshot_id) for row in made]


def then_live(snapshot: str, rule: HandOver, topics: KafkaTopics, topic: str) -> HybridSource:
    """Return a chain of a snapshot and its topic."""
    history = TableSource.table(TABLE).version_as_of(snapshot).build()
    return history.then(live(topics, topic), hand_over=rule, select=("order_id", KEY))


@iceberg
def test_the_log_begins_after_the_columns_of_the_sink(
    lake: SparkSession, topics: KafkaTopics, topic: str, snapshots: list[str], tmp_path: Path
) -> None:
    chain = then_live(snapshots[1], recipe(COLUMNS), topics, topic)
    drain(chain.read_stream(lake), tmp_path)
    assert_each_once(ids(written(lake, tmp_path)), range(60))


@iceberg
def test_the_log_begins_at_the_newest_time_of_the_pinned_snapshot(
    lake: SparkSession, topics: KafkaTopics, topic: str, snapshots: list[str], tmp_path: Path
) -> None:
    chain = then_live(snapshots[1], recipe(VALID_THROUGH, spark=lake), topics, topic)
    drain(chain.read_stream(lake), tmp_path)
    seen = Counter(ids(written(lake, tmp_path)))
    # Orders 15 to 17 are the last records of the first snapshot, 18 and 21 of the second snapshot.
    twice = {order_id(number) for number in (15, 16, 17, 18, 21)}
    assert seen == {order_id(n): 1 + (order_id(n) in twice) for n in range(60)}


def test_each_recipe_of_the_page_is_executed() -> None:
    for number, _ in enumerate(PAGE.blocks("python")):
        recipe(number)
    PAGE.assert_all_executed()
