# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Names of clusters, and the ids of the clusters at their addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from clusters.atlas import Atlas, rows_in, soon
from orders import orders
from refusals import assert_says
from servers.kafka.node import ProcessNode
from servers.kafka.settings import new_cluster_id
from servers.kafka.topics import KafkaTopics
from servers.ports import free_ports
from servers.waiting import wait_for
from streams import drain, start


@contextmanager
def _cluster_at(port: int, controller: int, folder: Path) -> Iterator[tuple[str, KafkaTopics]]:
    """Start a cluster with a new id, and return the id and the topics."""
    folder.mkdir()
    cluster_id = new_cluster_id()
    node = ProcessNode(folder, cluster_id, {}, "384m", ports=(port, controller))
    try:
        node.start()
        topics = KafkaTopics(f"127.0.0.1:{port}")
        wait_for("Kafka to be ready", lambda: topics.cluster_id(timeout=1) == cluster_id)
        yield cluster_id, topics
    finally:
        node.remove()


def test_another_cluster_at_the_same_address_is_not_read(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    port, controller = free_ports(2)
    north, topic = atlas.topic("north"), "orders-here"
    clusters: dict[str, Any] = {
        "here": {"bootstrapServers": f"127.0.0.1:{port}"},
        "north": atlas.clusters.reached("north"),
    }
    atlas.publish({"orders": {"here": [topic], "north": [north]}}, clusters)
    atlas.produce("north", north, 20)
    with _cluster_at(port, controller, tmp_path / "first") as (before, topics):
        topics.create(topic, 2)
        topics.produce(topic, orders(range(20, 40), 2))
        query = start(atlas.stream(spark), tmp_path)
        soon(query, "the first rows", lambda: rows_in(tmp_path) == 40)
    with _cluster_at(port, controller, tmp_path / "second") as (now, topics):
        with pytest.raises(PySparkException) as raised:
            query.awaitTermination(60)
        assert_says(str(raised.value), "OTHER_CLUSTER", before, now)
        topics.create(topic, 2)
        topics.produce(topic, orders(range(40, 90), 2))
        with pytest.raises(PySparkException) as raised:
            drain(atlas.stream(spark), tmp_path)
        assert_says(str(raised.value), "OTHER_CLUSTER", before, now)
    assert rows_in(tmp_path) == 40


def test_two_names_of_one_cluster_with_separate_topics(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    first, second = atlas.topic("west"), atlas.topic("west")
    _publish_two_names(atlas, first, second)
    for topic in (first, second):
        atlas.produce("west", topic, 30)
    drain(atlas.stream(spark), tmp_path)
    atlas.produce("west", second, 30)
    atlas.places |= {one: ("plain", second) for one, at in atlas.places.items() if at[1] == second}
    drain(atlas.stream(spark), tmp_path)
    atlas.assert_read(spark, tmp_path)


def test_two_names_of_one_cluster_with_a_topic_in_common(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    topic = atlas.topic("west")
    atlas.produce("west", topic, 30)
    _publish_two_names(atlas, topic, topic)
    with pytest.raises(PySparkException) as raised:
        drain(atlas.stream(spark), tmp_path)
    assert_says(str(raised.value), "DUPLICATE_CLUSTER", "plain and west", topic)


def _publish_two_names(atlas: Atlas, first: str, second: str) -> None:
    """Publish a stream on one cluster: one topic requires a login, and the other does not."""
    plain = {"bootstrapServers": atlas.clusters.west.bootstrap_servers}
    clusters = {"west": atlas.clusters.reached("west"), "plain": plain}
    atlas.publish({"orders": {"west": [first], "plain": [second]}}, clusters)
