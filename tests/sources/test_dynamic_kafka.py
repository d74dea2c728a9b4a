# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Streams on two clusters, which change while queries run and between their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from orders import order_id, orders
from servers.kafka.cluster import KafkaCluster
from servers.waiting import wait_for
from splice import (
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    compare_clusters,
    describe,
    query_history,
)
from streams import drain, start, written

TOPIC = "orders"


@pytest.fixture
def clusters(kafka: KafkaCluster, other_kafka: KafkaCluster) -> Mapping[str, KafkaCluster]:
    """Two clusters that no test stops."""
    return {"east": kafka, "west": other_kafka}


class Streams:
    """A metadata document of a stream, and the orders of the stream."""

    def __init__(self, clusters: Mapping[str, KafkaCluster], folder: Path, topic: str) -> None:
        """Create the topic on both clusters."""
        self._clusters = clusters
        self.path = folder / "streams.json"
        self._topic = topic
        self._generation = 0
        for cluster in clusters.values():
            cluster.topics.create(topic, 2)

    def lie_on(self, *names: str) -> None:
        """Publish a document with the stream on some clusters."""
        other = self.path.with_suffix(".next")
        other.write_text(json.dumps(self.document(*names)))
        other.replace(self.path)

    def document(self, *names: str) -> dict[str, object]:
        """Return the next document."""
        self._generation += 1
        return {
            "version": 1,
            "generation": self._generation,
            "clusters": {
                name: {"bootstrapServers": cluster.bootstrap_servers}
                for name, cluster in self._clusters.items()
            },
            "streams": {TOPIC: {name: [self._topic] for name in names}},
        }

    def produce(self, cluster: str, numbers: Sequence[int]) -> None:
        """Write orders to one of the clusters."""
        self._clusters[cluster].topics.produce(self._topic, orders(numbers, 2))

    def source(self) -> DynamicKafkaSourceBuilder:
        """Return a builder of a source of the stream."""
        return (
            DynamicKafkaSource.builder()
            .metadata_file(str(self.path))
            .streams(TOPIC)
            .starting_offsets("earliest")
            .option("discoveryInterval", "200ms")
        )

    def read(self, spark: SparkSession, **options: str | bool | float) -> DataFrame:
        """Read the stream with the cluster and the stream of each row."""
        return (
            self.source()
            .options(**options)
            .build()
            .read_stream(spark)
            .selectExpr("CAST(key AS STRING) AS order_id", "_cluster", "_stream")
        )


@pytest.fixture
def streams(
    clusters: Mapping[str, KafkaCluster], tmp_path: Path, request: pytest.FixtureRequest
) -> Streams:
    """A new stream."""
    return Streams(clusters, tmp_path, request.node.name)


def read_of(spark: SparkSession, folder: Path) -> list[tuple[str, str]]:
    """Return cluster and id of each written row, sorted."""
    rows = written(spark, folder).collect()
    return sorted((row["_cluster"], row["order_id"]) for row in rows)


def wanted(**numbers: Sequence[int]) -> list[tuple[str, str]]:
    """Return cluster and id of the expected rows, sorted."""
    return sorted((cluster, order_id(n)) for cluster, some in numbers.items() for n in some)


def test_a_stream_moves_to_another_cluster_while_it_is_read(
    spark: SparkSession, streams: Streams, tmp_path: Path
) -> None:
    streams.lie_on("east")
    streams.produce("east", range(100))
    query = start(streams.read(spark, maxOffsetsPerTrigger=30, cutover="stream"), tmp_path)
    try:
        wait_for("the first rows", lambda: query.lastProgress is not None)
        streams.produce("west", range(100, 150))
        streams.lie_on("west")
        wait_for("a report of west alone", lambda: _clusters(query) == {"west": 2})
        wait_for("all rows", lambda: _count(query) >= 150)
    finally:
        query.stop()
    assert read_of(spark, tmp_path) == wanted(east=range(100), west=range(100, 150))


def test_a_cluster_that_is_added_again_resumes_at_its_position_and_the_history_has_the_changes(
    spark: SparkSession, streams: Streams, tmp_path: Path
) -> None:
    streams.lie_on("east", "west")
    streams.produce("east", range(40))
    streams.produce("west", range(40, 60))
    drain(streams.read(spark), tmp_path)
    streams.lie_on("east")
    streams.produce("east", range(60, 80))
    drain(streams.read(spark, onRemoved="drop"), tmp_path)
    streams.produce("west", range(80, 100))
    drain(streams.read(spark, onRemoved="drop"), tmp_path)
    streams.lie_on("east", "west")
    drain(streams.read(spark, onRemoved="drop"), tmp_path)
    assert read_of(spark, tmp_path) == wanted(
        east=[*range(40), *range(60, 80)], west=[*range(40, 60), *range(80, 100)]
    )
    changes = query_history(spark, str(tmp_path / "checkpoint")).where("event LIKE 'topic%'")
    rows = changes.select("change", "at", "generation", "event", "names").collect()
    assert [(r["change"], r["generation"], r["event"], len(r["names"])) for r in rows] == [
        (0, 1, "topicAdded", 2),
        (1, 2, "topicRemoved", 1),
        (2, 3, "topicReturned", 1),
    ]
    assert rows[1]["names"][0].startswith("west/")
    assert sorted(r["at"] for r in rows) == [r["at"] for r in rows]


def test_a_batch_read_has_the_rows_of_all_clusters(
    spark: SparkSession, streams: Streams, tmp_path: Path
) -> None:
    streams.lie_on("east", "west")
    streams.produce("east", range(10))
    streams.produce("west", range(10, 30))
    frame = (
        spark.read.format("splice-dynamic-kafka")
        .options(**{"metadata.file": str(streams.path), "streamPattern": "^ord"})
        .load()
    )
    rows = frame.selectExpr("CAST(key AS STRING) AS id", "_cluster", "_stream").collect()
    assert sorted((r["_cluster"], r["id"]) for r in rows) == wanted(
        east=range(10), west=range(10, 30)
    )
    assert {r["_stream"] for r in rows} == {TOPIC}


def test_two_clusters_are_compared_before_a_stream_moves(
    spark: SparkSession, streams: Streams
) -> None:
    streams.lie_on("east", "west")
    streams.produce("east", range(20))
    streams.produce("west", [*range(18), 7, 30])
    source = streams.source().ending_offsets("latest").build()
    differences = compare_clusters(
        source.read(spark).select("*", "_cluster", "_stream"), "east", "west"
    )
    counts = ("left_rows", "right_rows", "only_left", "only_right")
    found = {row["key"].decode(): tuple(row[c] for c in counts) for row in differences.collect()}
    assert found == {
        order_id(7): (1, 2, 0, 1),
        order_id(18): (1, 0, 1, 0),
        order_id(19): (1, 0, 1, 0),
        order_id(30): (0, 1, 0, 1),
    }
    gateway: Any = spark._jvm
    jvm = gateway.splice.kafka.dynamic.ClusterComparison
    assert (
        jvm.of(source.read(spark).select("*", "_cluster", "_stream")._jdf, "west", "east").count()
        == 4
    )


def test_a_python_function_is_the_metadata_service(
    spark: SparkSession, streams: Streams, tmp_path: Path
) -> None:
    answers = [streams.document("east"), streams.document("east", "west")]
    streams.produce("east", range(10))
    streams.produce("west", range(10, 30))

    def service() -> dict[str, object]:
        if not answers:
            raise OSError("nobody answers")
        return answers.pop(0)

    source = (
        DynamicKafkaSource.builder()
        .metadata_service(service)
        .streams(TOPIC)
        .starting_offsets("earliest")
        .option("discoveryInterval", "200ms")
        .build()
    )
    frame = source.read_stream(spark).selectExpr(
        "CAST(key AS STRING) AS order_id", "_cluster", "_stream"
    )
    query = start(frame, tmp_path)
    try:
        wait_for("all rows", lambda: _count(query) >= 30)
    finally:
        query.stop()
    assert read_of(spark, tmp_path) == wanted(east=range(10), west=range(10, 30))


def _clusters(query: StreamingQuery) -> dict[str, int | None]:
    sources = describe(query).sources
    return {cluster.name: cluster.splits for source in sources for cluster in source.clusters}


def _count(query: StreamingQuery) -> int:
    return sum(progress["numInputRows"] for progress in query.recentProgress)
