# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Removed topics whose remaining rows no longer exist or are not available in time."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Row, SparkSession

from clusters.atlas import IMPATIENT, Atlas, rows_in, soon, splits
from driver_log import DriverLog
from splice import query_history
from streams import start, written


def test_a_topic_is_deleted_while_it_drains(
    spark: SparkSession, atlas: Atlas, driver_log: DriverLog, tmp_path: Path
) -> None:
    east, west = _east_and("west", atlas, 3000)
    stream = atlas.stream(
        spark, onTopicRemoved="drop", failOnDataLoss=False, maxOffsetsPerTrigger=50
    )
    query = start(stream, tmp_path)
    soon(query, "some rows of west", lambda: rows_in(tmp_path) > 100)
    atlas.publish({"orders": {"east": [east]}})
    soon(query, "the removal", lambda: _events(spark, tmp_path, "topicRemoved"))
    atlas.clusters.topics("west").delete(west)
    soon(query, "the end of the drain", lambda: set(splits(query)) == {"east"})
    soon(query, "a warning", lambda: driver_log.has(rf"(?m)^WARN .*{west}.*"))
    first, read = atlas.produced, rows_in(tmp_path)
    atlas.produce("east", east, 30)
    soon(query, "rows of east", lambda: rows_in(tmp_path) >= read + 30)
    query.stop()
    rows = written(spark, tmp_path).collect()
    kept = [(row["partition"], row["offset"]) for row in rows if row["_cluster"] == "west"]
    for partition in (0, 1):
        offsets = sorted(offset for p, offset in kept if p == partition)
        assert offsets == list(range(len(offsets)))
    assert 100 < len(kept) < first
    assert sum(row["_cluster"] == "east" for row in rows) == 30


def test_a_removed_topic_of_an_unavailable_cluster_is_abandoned(
    spark: SparkSession, atlas: Atlas, driver_log: DriverLog, tmp_path: Path
) -> None:
    east, north = _east_and("north", atlas, 40)
    stream = atlas.stream(spark, drainTimeout="5s", clusterWait="1s", **IMPATIENT)
    query = start(stream, tmp_path)
    # Without unread rows, no batch waits for the records of the killed cluster.
    soon(query, "all rows of north", lambda: rows_in(tmp_path) == 40)
    atlas.clusters.kill("north")
    try:
        atlas.publish({"orders": {"east": [east]}})
        soon(query, "the removal", lambda: _events(spark, tmp_path, "topicRemoved"))
        atlas.produce("east", east, 30)
        soon(query, "the event", lambda: _events(spark, tmp_path, "topicAbandoned"))
    finally:
        atlas.clusters.start("north")
    assert driver_log.has(rf"(?m)^WARN .*north/{north}.*")
    (event,) = _events(spark, tmp_path, "topicAbandoned")
    (name,) = event["names"]
    assert name.startswith(f"north/{north}: the number of unread rows is unknown")
    soon(query, "rows of east", lambda: rows_in(tmp_path) >= 70)
    query.stop()
    rows = written(spark, tmp_path).groupBy("_cluster").count().collect()
    assert {row["_cluster"]: row["count"] for row in rows}["east"] == 30


def _events(spark: SparkSession, folder: Path, event: str) -> list[Row]:
    changes = query_history(spark, str(folder / "checkpoint"))
    return list(changes.where(f"event = '{event}'").collect())


def _east_and(other: str, atlas: Atlas, rows: int) -> tuple[str, str]:
    """Create a stream with an empty topic of east and a topic of another cluster with rows."""
    topics = atlas.topic("east"), atlas.topic(other)
    atlas.publish({"orders": {"east": [topics[0]], other: [topics[1]]}})
    atlas.produce(other, topics[1], rows)
    return topics
