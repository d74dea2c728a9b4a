# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commits to the consumer group of each cluster, and starts at committed offsets."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from clusters.atlas import COLUMNS, Atlas
from demo.checkpoint import Checkpoint
from refusals import assert_says, failure
from splice import OffsetsInitializer
from streams import drain, written

BATCH = 30
FAILING = 3


def test_each_cluster_has_separate_offsets(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    group, lies = _three(atlas)
    source = _builder(atlas, group).starting_offsets("earliest").build()
    drain(source.read_stream(spark).selectExpr(*COLUMNS), tmp_path)
    for name, topic in lies.items():
        _assert_at_end(atlas, group, name, topic)
    atlas.assert_read(spark, tmp_path)


def test_a_drained_topic_is_committed_to_its_end_if_its_cluster_keeps_a_topic(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    group, left, kept = _group(), atlas.topic("east"), atlas.topic("east")
    for topics in ([left, kept], [kept]):
        atlas.publish({"orders": {"east": topics}})
        for topic in (left, kept):
            atlas.produce("east", topic, 80)
        source = _builder(atlas, group).starting_offsets("earliest").build()
        drain(source.read_stream(spark).selectExpr(*COLUMNS), tmp_path)
    for topic in (left, kept):
        _assert_at_end(atlas, group, "east", topic)
    atlas.assert_read(spark, tmp_path)


def test_no_group_is_ahead_of_the_checkpoint(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    group, lies = _three(atlas)
    source = _builder(atlas, group).starting_offsets("earliest")
    source = source.option("maxOffsetsPerTrigger", BATCH)
    _fail_at(source.build().read_stream(spark), tmp_path, FAILING)
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    assert (checkpoint.planned(), checkpoint.committed()) == (FAILING, FAILING - 1)
    held = checkpoint.offset(FAILING - 1)["clusters"]
    committed = {n: atlas.clusters.topics(n).committed(group, topic) for n, topic in lies.items()}
    assert any(committed.values())
    ahead = [
        (name, p, offset)
        for name, offsets in committed.items()
        for p, offset in offsets.items()
        if offset > held.get(name, {}).get(lies[name], {}).get(str(p), 0)
    ]
    assert not ahead, f"{committed} for {held}"


def test_a_start_from_where_each_group_stands(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    group, lies = _three(atlas)
    stands = {"east": {0: 5, 1: 20}, "west": {0: 30, 1: 0}}
    for name, offsets in stands.items():
        atlas.clusters.topics(name).commit(group, lies[name], offsets)
    start = OffsetsInitializer.committed("earliest")
    source = _builder(atlas, group).starting_offsets(start).build()
    drain(source.read_stream(spark).selectExpr(*COLUMNS), tmp_path)
    expected = [
        (name, p, offset)
        for name, topic in lies.items()
        for p, (_, end) in atlas.clusters.topics(name).offsets(topic).items()
        for offset in range(stands.get(name, {}).get(p, 0), end)
    ]
    rows = written(spark, tmp_path).collect()
    assert sorted((r["_cluster"], r["partition"], r["offset"]) for r in rows) == sorted(expected)


def test_a_start_from_where_no_group_stands(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    group, lies = _three(atlas)
    for name in ("east", "west"):
        atlas.clusters.topics(name).commit(group, lies[name], {0: 0, 1: 0})
    source = _builder(atlas, group).starting_offsets(OffsetsInitializer.committed())
    assert_says(
        failure(spark, source.build(), tmp_path), "COMMITTED_OFFSET_NOT_FOUND", group, lies["north"]
    )


def _three(atlas: Atlas) -> tuple[str, dict[str, str]]:
    """Create a stream with orders on three clusters, and return a new group."""
    lies = {name: atlas.topic(name) for name in ("east", "west", "north")}
    atlas.publish({"orders": {name: [topic] for name, topic in lies.items()}})
    for name, topic in lies.items():
        atlas.produce(name, topic, 80)
    return _group(), lies


def _group() -> str:
    """Return the name of a new group."""
    return f"group-{uuid.uuid4().hex[:8]}"


def _assert_at_end(atlas: Atlas, group: str, cluster: str, topic: str) -> None:
    """Assert that the committed offsets of a group are the ends of a topic."""
    topics = atlas.clusters.topics(cluster)
    ends = {p: end for p, (_, end) in topics.offsets(topic).items()}
    assert topics.committed(group, topic) == ends


def _builder(atlas: Atlas, group: str):  # type: ignore[no-untyped-def]
    return atlas.builder().streams("orders").commit_to_group(group)


def _fail_at(stream: DataFrame, folder: Path, failing: int) -> None:
    """Run a query that fails after it has read a batch and before the commit."""

    def write(rows: DataFrame, batch: int) -> None:
        assert rows.count() > 0
        if batch == failing:
            raise RuntimeError("not to be committed")

    query = (
        stream.writeStream.foreachBatch(write)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    with pytest.raises(StreamingQueryException, match="not to be committed"):
        query.awaitTermination(120)
