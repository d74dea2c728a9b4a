# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Users and passwords of a cluster that change while the query runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from clusters.atlas import COLUMNS, Atlas, rows_in, soon, splits
from demo.checkpoint import Checkpoint
from driver_log import DriverLog
from kill.life import Life
from servers.clusters import NAMES
from servers.waiting import wait_for
from streams import drain, start


def test_only_the_clients_of_the_cluster_are_renewed(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    west, north = _both(atlas)
    query = start(atlas.stream(spark), tmp_path)
    soon(query, "the first rows", lambda: rows_in(tmp_path) == atlas.produced)
    before = _workers(spark)

    atlas.clusters.west.change_user()
    atlas.publish({"orders": {"west": [west], "north": [north]}})
    # The old clients close before the new clients send a request. In between, no thread exists.
    soon(query, "other clients", lambda: _workers(spark).get("west", 0) > before["west"])
    atlas.clusters.west.shut_out_old_users()
    for _ in range(3):
        atlas.produce("west", west, 50)
        atlas.produce("north", north, 50)
        soon(query, "more rows", lambda: rows_in(tmp_path) == atlas.produced)
    after = _workers(spark)
    query.stop()
    assert after["north"] == before["north"]
    assert splits(query) == {"west": 2, "north": 2}
    atlas.assert_read(spark, tmp_path)


@pytest.mark.parametrize("run", [drain, start])
def test_a_batch_that_is_read_again_uses_the_current_login(  # type: ignore[no-untyped-def]
    spark: SparkSession, atlas: Atlas, tmp_path: Path, run
) -> None:
    west, north = _both(atlas)
    _plan_one_batch(atlas.stream(spark), tmp_path)
    atlas.clusters.west.change_user()
    atlas.clusters.west.shut_out_old_users()
    atlas.publish({"orders": {"west": [west], "north": [north]}})
    query = run(atlas.stream(spark, clusterTimeout="30s"), tmp_path)
    soon(query, "all rows", lambda: rows_in(tmp_path) == atlas.produced)
    query.stop()
    atlas.assert_read(spark, tmp_path)


def test_a_batch_that_is_read_again_waits_until_it_may_log_in(
    spark: SparkSession, atlas: Atlas, driver_log: DriverLog, tmp_path: Path
) -> None:
    west, north = _both(atlas)
    _plan_one_batch(atlas.stream(spark), tmp_path)
    atlas.clusters.west.change_user()
    atlas.clusters.west.shut_out_old_users()
    query = start(atlas.stream(spark), tmp_path)
    soon(query, "a login that fails", lambda: driver_log.has("[Cc]luster west"))
    assert query.isActive
    atlas.publish({"orders": {"west": [west], "north": [north]}})
    soon(query, "all rows", lambda: rows_in(tmp_path) == atlas.produced)
    query.stop()
    atlas.assert_read(spark, tmp_path)


def test_a_password_changes_where_the_document_points_to(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    west, north = _both(atlas)
    source = atlas.builder().streams("orders").starting_offsets("earliest").build()
    query = {
        "options": source.options(),
        "select": list(COLUMNS),
        "checkpoint": str(tmp_path / "checkpoint"),
        "output": str(tmp_path / "out"),
        "sink": "parquet",
        "sink_options": {},
        "trigger": {"processingTime": "100 milliseconds"},
    }
    # A task with a connection of the old password fails, and Spark retries the task.
    with Life.begin(tmp_path / "life", [query], master="local[2,4]") as life:
        _wait(life, lambda: rows_in(tmp_path) == atlas.produced)
        atlas.clusters.west.change_password()
        for _ in range(3):
            atlas.produce("west", west, 50)
            atlas.produce("north", north, 50)
            _wait(life, lambda: rows_in(tmp_path) == atlas.produced)
        life.finish()
    atlas.assert_read(spark, tmp_path)


def _both(atlas: Atlas) -> tuple[str, str]:
    """Create a stream with orders on two clusters."""
    west, north = atlas.topic("west"), atlas.topic("north")
    atlas.publish({"orders": {"west": [west], "north": [north]}})
    atlas.produce("west", west, 100)
    atlas.produce("north", north, 100)
    return west, north


def _plan_one_batch(stream: DataFrame, folder: Path) -> None:
    """Run a query that fails before it reads a row of its first batch."""

    def fail(_rows: DataFrame, _batch: int) -> None:
        raise RuntimeError("nothing is read")

    checkpoint = folder / "checkpoint"
    query = (
        stream.writeStream.foreachBatch(fail)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    with pytest.raises(StreamingQueryException, match="nothing is read"):
        query.awaitTermination(120)
    planned = Checkpoint(checkpoint)
    assert (planned.planned(), planned.committed()) == (0, -1)


def _workers(spark: SparkSession) -> dict[str, int]:
    """Return the newest request thread of each cluster, by the cluster's name."""
    jvm: Any = spark._jvm
    threads = jvm.java.lang.Thread.getAllStackTraces().keySet()
    known = [(thread.getName(), int(thread.getId())) for thread in threads]
    found: dict[str, int] = {}
    for cluster in NAMES:
        numbers = [number for name, number in known if name.startswith(f"splice-kafka-{cluster}-")]
        found |= {cluster: max(numbers)} if numbers else {}
    return found


def _wait(life: Life, condition: Callable[[], bool]) -> None:
    def done() -> bool:
        assert life.process.exit_code is None, life.process.tail(80)
        return condition()

    wait_for("all rows", done, 120)
