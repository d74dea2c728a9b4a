# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Streams that are read to an end: as a batch, as a bounded stream, and with AvailableNow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import COLUMNS, IMPATIENT, Atlas, soon
from driver_log import DriverLog
from orders import FIRST_EVENT, order_id
from servers.waiting import wait_for
from splice import OffsetsInitializer
from streams import drain, start_to_drain, written


@pytest.fixture
def lies(atlas: Atlas) -> dict[str, list[str]]:
    """Create a stream on three clusters, with more orders on the second than on the first."""
    lies = {name: [atlas.topic(name)] for name in ("east", "west", "north")}
    atlas.publish({"orders": lies})
    for rows, (name, topics) in enumerate(lies.items(), 1):
        atlas.produce(name, topics[0], 40 * rows)
    return lies


@pytest.mark.usefixtures("lies")
@pytest.mark.parametrize("end", [None, "latest"])
def test_a_batch(spark: SparkSession, atlas: Atlas, end: str | None) -> None:
    builder = atlas.builder().streams("orders")
    source = (builder.ending_offsets(end) if end else builder).build()
    atlas.assert_rows(source.read(spark).selectExpr(*COLUMNS))


def test_a_stream_that_ends_where_its_topics_did(
    spark: SparkSession, atlas: Atlas, lies: dict[str, list[str]], tmp_path: Path
) -> None:
    builder = atlas.builder(maxOffsetsPerTrigger=50).streams("orders")
    source = builder.starting_offsets("earliest").ending_offsets("latest").build()
    frame = source.read_stream(spark).selectExpr(*COLUMNS)
    drain(frame, tmp_path)
    produced = atlas.produced
    for name, topics in lies.items():
        atlas.produce(name, topics[0], 30)
    drain(frame, tmp_path)
    atlas.produced = produced
    atlas.assert_read(spark, tmp_path)


@pytest.mark.usefixtures("lies")
def test_an_end_by_time(spark: SparkSession, atlas: Atlas) -> None:
    # Order n of the second cluster is n seconds after the first order.
    half = OffsetsInitializer.timestamp(FIRST_EVENT + 100_000)
    source = atlas.builder().streams("orders").ending_offsets(half).build()
    rows = source.read(spark).selectExpr(*COLUMNS).collect()
    assert sorted(row["order_id"] for row in rows) == [order_id(n) for n in range(100)]


def test_available_now_with_an_unavailable_cluster(
    spark: SparkSession,
    atlas: Atlas,
    lies: dict[str, list[str]],
    driver_log: DriverLog,
    tmp_path: Path,
) -> None:
    with _unread_rows_and_a_dead_cluster(spark, atlas, lies, tmp_path):
        query = start_to_drain(atlas.stream(spark), tmp_path)
        soon(query, "a request without response", lambda: driver_log.has("[Cc]luster north"))
        assert query.isActive
    soon(query, "its end", lambda: not query.isActive)
    atlas.assert_read(spark, tmp_path)


def test_available_now_ends_without_a_cluster_that_does_not_respond(
    spark: SparkSession, atlas: Atlas, lies: dict[str, list[str]], tmp_path: Path
) -> None:
    with _unread_rows_and_a_dead_cluster(spark, atlas, lies, tmp_path):
        query = start_to_drain(atlas.stream(spark, clusterTimeout="5s", **IMPATIENT), tmp_path)
        wait_for("the end of the run", lambda: not query.isActive, 120)
    error = str(query.exception())
    assert "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE" in error
    assert "north" in error
    counts = written(spark, tmp_path).groupBy("_cluster").count().collect()
    assert {row["_cluster"]: row["count"] for row in counts} == {
        "east": 70,
        "west": 110,
        "north": 120,
    }
    drain(atlas.stream(spark), tmp_path)
    atlas.assert_read(spark, tmp_path)


@contextmanager
def _unread_rows_and_a_dead_cluster(
    spark: SparkSession, atlas: Atlas, lies: dict[str, list[str]], folder: Path
) -> Iterator[None]:
    """Add rows to each cluster after a complete run, and kill north until the end of the block."""
    drain(atlas.stream(spark), folder)
    for name, topics in lies.items():
        atlas.produce(name, topics[0], 30)
    atlas.clusters.kill("north")
    try:
        yield
    finally:
        atlas.clusters.start("north")
