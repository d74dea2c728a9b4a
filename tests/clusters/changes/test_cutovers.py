# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs of AvailableNow while a stream waits for the time of its cutover."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import COLUMNS, Atlas, Place, rows_in, soon, splits
from driver_log import DriverLog
from servers.waiting import wait_for
from streams import drain, start_to_drain, written

HOUR = 3600.0
AFTER = 40

Mirrored = tuple[Place, Place]


@pytest.fixture
def mirrored(atlas: Atlas) -> Mirrored:
    """Create a topic of a stream, and its mirror on another cluster."""
    old, new = ("east", atlas.topic("east")), ("north", atlas.topic("north"))
    atlas.mirrors[old] = new
    atlas.publish({"orders": {"east": [old[1]]}})
    atlas.produce(*old, 100)
    return old, new


def test_the_old_topic_is_read_before_the_time_and_both_topics_are_read_after_the_time(
    spark: SparkSession, atlas: Atlas, mirrored: Mirrored, tmp_path: Path
) -> None:
    old, new = mirrored
    drain(atlas.stream(spark), tmp_path)
    _go_over(atlas, new, time.time() + HOUR)
    for _ in range(2):
        atlas.produce(*old, 50)
        assert splits(drain(atlas.stream(spark), tmp_path)) == {"east": 2}
        assert rows_in(tmp_path) == atlas.produced
    at = _now_and_then(atlas, old)
    _go_over(atlas, new, at)
    drained = drain(atlas.stream(spark), tmp_path)
    assert splits(drained) == {"north": 2}
    _assert_over(spark, atlas, tmp_path)


def test_a_mirror_that_lags_is_not_waited_for(
    spark: SparkSession, atlas: Atlas, mirrored: Mirrored, tmp_path: Path
) -> None:
    old, new = mirrored
    drain(atlas.stream(spark), tmp_path)
    atlas.lags = True
    _go_over(atlas, new, _now_and_then(atlas, old))
    for _ in range(2):
        assert splits(drain(atlas.stream(spark), tmp_path)) == {"east": 2}
        assert rows_in(tmp_path) == atlas.produced - AFTER
    atlas.catch_up()
    drain(atlas.stream(spark), tmp_path)
    _assert_over(spark, atlas, tmp_path)


def test_a_mirror_is_read_once_it_has_the_mapped_offsets(
    spark: SparkSession, atlas: Atlas, mirrored: Mirrored, tmp_path: Path
) -> None:
    old, new = mirrored
    drain(atlas.stream(spark), tmp_path)
    atlas.lags = True
    atlas.produce(*old, 30)
    ends = {str(p): end for p, (_, end) in atlas.clusters.topics("east").offsets(old[1]).items()}
    offsets = {"east": {old[1]: ends}, "north": {new[1]: ends}}
    atlas.publish({"orders": {"north": [new[1]]}}, cutovers={"orders": {"offsets": offsets}})
    for _ in range(2):
        assert splits(drain(atlas.stream(spark), tmp_path)) == {"north": 2}
        assert rows_in(tmp_path) == atlas.produced
    atlas.produce(*old, AFTER)
    drain(atlas.stream(spark), tmp_path)
    assert rows_in(tmp_path) == atlas.produced - AFTER
    atlas.catch_up()
    drain(atlas.stream(spark), tmp_path)
    _assert_over(spark, atlas, tmp_path)


def test_an_unavailable_mirror_delays_the_run(
    spark: SparkSession, atlas: Atlas, mirrored: Mirrored, driver_log: DriverLog, tmp_path: Path
) -> None:
    old, new = mirrored
    drain(atlas.stream(spark), tmp_path)
    _go_over(atlas, new, _now_and_then(atlas, old))
    atlas.clusters.kill("north")
    try:
        query = start_to_drain(atlas.stream(spark), tmp_path)
        soon(query, "a request without response", lambda: driver_log.has("[Cc]luster north"))
        assert query.isActive
    finally:
        atlas.clusters.start("north")
    soon(query, "its end", lambda: not query.isActive)
    _assert_over(spark, atlas, tmp_path)


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_batch_reads_the_current_topics_at_any_cutover_time(
    spark: SparkSession, atlas: Atlas, mirrored: Mirrored, ahead: float
) -> None:
    _, new = mirrored
    _go_over(atlas, new, time.time() + ahead)
    rows = atlas.builder().streams("orders").build().read(spark).selectExpr(*COLUMNS)
    atlas.assert_rows(rows)
    assert {row["_cluster"] for row in rows.collect()} == {"north"}


def _go_over(atlas: Atlas, new: Place, at: float) -> None:
    cutover = {"timestamp": int(at * 1000), "lateness": "1h"}
    atlas.publish({"orders": {new[0]: [new[1]]}}, cutovers={"orders": cutover})


def _now_and_then(atlas: Atlas, old: Place) -> float:
    """Produce orders before and ``AFTER`` a time, and return the time, which has passed then."""
    atlas.produce(*old, 30)
    at = int(time.time()) + 1.0
    wait_for("the time", lambda: time.time() > at)
    atlas.produce(*old, AFTER)
    return at


def _assert_over(spark: SparkSession, atlas: Atlas, folder: Path) -> None:
    """Assert that each order was read once, from the mirror only after the time."""
    atlas.assert_read(spark, folder)
    found = written(spark, folder).groupBy("_cluster").count().collect()
    counts = {row["_cluster"]: row["count"] for row in found}
    assert counts == {"east": atlas.produced - AFTER, "north": AFTER}
