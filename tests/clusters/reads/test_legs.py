# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Streams on many clusters as the first or the last leg of a chain."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import Atlas
from orders import HISTORY_SELECT, LIVE_SELECT, archive, assert_each_once, history, ids
from refusals import assert_says, failure
from splice import DynamicKafkaSource, HandOver, HybridSource, KafkaSource
from streams import drain, written

SELECT = f"{LIVE_SELECT}, topic"
HISTORY = f"{HISTORY_SELECT}, topic"


def test_the_first_leg_is_read_to_its_end(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    east, west, then = atlas.topic("east"), atlas.topic("west"), atlas.topic("north")
    atlas.publish({"orders": {"east": [east], "west": [west]}})
    atlas.produce("east", east, 40)
    atlas.produce("west", west, 40)
    first = atlas.builder(maxOffsetsPerTrigger=15).streams("orders")
    live = KafkaSource.builder().bootstrap_servers(atlas.clusters.topics("north").bootstrap_servers)
    chain = (
        HybridSource.builder(
            "before",
            first.starting_offsets("earliest").ending_offsets("latest").build(),
            select=SELECT,
        )
        .add_source("live", live.topics(then).starting_offsets("earliest").build(), select=SELECT)
        .build()
    )
    drain(chain.read_stream(spark), tmp_path)
    atlas.produce("north", then, 40)
    drain(chain.read_stream(spark), tmp_path)
    rows = written(spark, tmp_path)
    assert_each_once(ids(rows), range(atlas.produced))
    assert_each_once(ids(chain.read(spark)), range(atlas.produced))


def test_the_last_leg_starts_on_every_cluster(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    lies = {name: atlas.topic(name) for name in ("east", "west", "north")}
    paths = []
    for (name, topic), until in zip(lies.items(), (10, 25, 0), strict=True):
        atlas.produce(name, topic, 60)
        if until:
            paths.append(tmp_path / "history" / name)
            archive(atlas.clusters.topics(name), topic, paths[-1], {0: until, 1: until})
    atlas.publish({"orders": {name: [topic] for name, topic in lies.items()}})
    chain = _history_then_streams(atlas, *paths)
    drain(chain.read_stream(spark), tmp_path)
    for name, topic in lies.items():
        atlas.produce(name, topic, 20)
    drain(chain.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), range(atlas.produced))
    assert_each_once(ids(chain.read(spark)), range(atlas.produced))


@pytest.mark.parametrize("streams_topic", ["on two clusters", "another one"])
def test_offsets_of_an_unknown_cluster(
    spark: SparkSession, atlas: Atlas, tmp_path: Path, streams_topic: str
) -> None:
    topic = atlas.topic("west", "north")
    atlas.produce("west", topic, 60)
    atlas.produce("north", topic, 60)
    path = tmp_path / "history"
    archive(atlas.clusters.topics("west"), topic, path, {0: 30, 1: 30})
    if streams_topic == "on two clusters":
        atlas.publish({"orders": {"west": [topic], "north": [topic]}})
    else:
        atlas.publish({"orders": {"east": [atlas.topic("east")]}})
    message = failure(spark, _history_then_streams(atlas, path), tmp_path)
    assert_says(
        message, topic, "west" if streams_topic == "on two clusters" else "PARTITION_NOT_FOUND"
    )


def _history_then_streams(atlas: Atlas, *paths: Path) -> HybridSource:
    live: DynamicKafkaSource = atlas.builder(maxOffsetsPerTrigger=50).streams("orders").build()
    return (
        HybridSource.builder("history", history(*paths), select=HISTORY)
        .add_source("live", live, hand_over=HandOver.offsets(), select=SELECT)
        .build()
    )
