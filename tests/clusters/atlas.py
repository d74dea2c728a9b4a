# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Metadata of streams, producers of their topics, and a comparison of read and produced rows."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from demo.judge import SinkLog
from orders import assert_each_once, orders
from servers.clusters import Clusters
from servers.kafka.producer import Record
from servers.waiting import wait_for
from splice import DynamicKafkaSource, describe
from splice.dynamic_kafka import DynamicKafkaSourceBuilder
from streams import written

COLUMNS = (
    "CAST(key AS STRING) AS order_id",
    "_cluster",
    "_stream",
    "topic",
    "partition",
    "offset",
)
"""Columns of a stream that tests read."""

# Short timeouts, so that clients detect an unavailable cluster soon.
_CLIENT = {
    "kafka.request.timeout.ms": "4000",
    "kafka.default.api.timeout.ms": "8000",
    "kafka.reconnect.backoff.max.ms": "500",
}

IMPATIENT = {"kafka.request.timeout.ms": "1000", "kafka.default.api.timeout.ms": "2000"}
"""Options of a query whose requests to a dead cluster fail soon."""

Streams = Mapping[str, Mapping[str, Sequence[str]]]
"""Topics by stream and cluster."""

Place = tuple[str, str]
"""Cluster and topic."""


class Atlas:
    """A metadata document, its topics, and the orders in these topics."""

    def __init__(self, clusters: Clusters, folder: Path) -> None:
        """Create an atlas with clusters, and with a folder for the document."""
        self.clusters, self.file = clusters, folder / "streams.json"
        self.generation = 0
        self.produced = 0
        self._lock = threading.Lock()
        self.places: dict[str, Place] = {}
        """Cluster and topic of each order, by its id."""
        self.mirrors: dict[Place, Place] = {}
        """Mirrors by their original topics. Each later order is also produced to the mirror."""
        self.lags = False
        """True if mirrors receive no orders until ``catch_up`` is called."""
        self._late: list[tuple[Place, list[Record]]] = []

    def topic(self, *clusters: str, partitions: int = 2) -> str:
        """Create a topic with a new name on some clusters."""
        name = f"orders-{uuid.uuid4().hex[:8]}"
        for cluster in clusters:
            self.clusters.create(cluster, name, partitions)
        return name

    def publish(
        self,
        streams: Streams,
        clusters: Mapping[str, Any] | None = None,
        cutovers: Mapping[str, Any] | None = None,
    ) -> None:
        """Publish the next document.

        Args:
            streams: Topics by stream and cluster.
            clusters: Entries of the clusters. The default is one entry per cluster.
            cutovers: Cutovers by stream.
        """
        self.generation += 1
        named = sorted({name for lies in streams.values() for name in lies})
        document = {
            "version": 1,
            "generation": self.generation,
            "clusters": clusters or {name: self.clusters.reached(name) for name in named},
            "streams": streams,
            "cutovers": cutovers or {},
        }
        following = self.file.with_suffix(".next")
        following.write_text(json.dumps(document))
        following.replace(self.file)

    def produce(self, cluster: str, topic: str, rows: int, partitions: int = 2) -> None:
        """Add orders with current timestamps to a topic and its mirror, on any thread."""
        with self._lock:
            numbers = range(self.produced, self.produced + rows)
            records = list(orders(numbers, partitions))
            mirror = self.mirrors.get((cluster, topic))
            if mirror:
                now = int(time.time() * 1000)
                records = [record._replace(timestamp=now) for record in records]
            self._write((cluster, topic), records)
            if mirror:
                self._late.append((mirror, records))
            if not self.lags:
                self._catch_up()
            self.produced += rows
            self.places |= {str(record.key): (cluster, topic) for record in records}

    def catch_up(self) -> None:
        """Produce the orders that mirrors have not received yet."""
        with self._lock:
            self._catch_up()

    def _catch_up(self) -> None:
        for mirror, records in self._late:
            self._write(mirror, records)
        self._late.clear()

    def _write(self, place: Place, records: list[Record]) -> None:
        self.clusters.topics(place[0]).produce(place[1], records)

    def builder(self, **options: str | bool | float) -> DynamicKafkaSourceBuilder:
        """Return a builder of a source that polls the document often."""
        return (
            DynamicKafkaSource.builder()
            .metadata_file(str(self.file))
            .options(discoveryInterval="200ms", clusterWait="2s", **_CLIENT)
            .options(**self.clusters.west.options)
            .options(**options)
        )

    def stream(self, spark: SparkSession, **options: str | bool | float) -> DataFrame:
        """Read the streams with the prefix ``orders`` from their first records."""
        builder = self.builder(**options).stream_pattern("^orders").starting_offsets("earliest")
        return builder.build().read_stream(spark).selectExpr(*COLUMNS)

    def assert_read(self, spark: SparkSession, folder: Path) -> None:
        """Assert that each order was read once, from the topic to which it was produced."""
        self.assert_rows(written(spark, folder))

    def assert_rows(self, rows: DataFrame) -> None:
        """Assert that a DataFrame has each order once, with its topic."""
        self.assert_each_once([row.asDict() for row in rows.collect()])

    def assert_each_once(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Assert that collected rows have each order once, with its topic."""
        assert_each_once((row["order_id"] for row in rows), range(self.produced))
        found = {row["order_id"]: (row["_cluster"], row["topic"]) for row in rows}
        wrong = {
            order: place
            for order, place in found.items()
            if place not in (self.places[order], self.mirrors.get(self.places[order]))
        }
        assert not wrong


def splits(query: StreamingQuery) -> dict[str, int]:
    """Return the number of partitions by cluster in the last progress.

    Clusters without partitions are excluded, because their topics wait for a cutover.
    """
    clusters = [cluster for source in describe(query).sources for cluster in source.clusters]
    return {cluster.name: cluster.splits for cluster in clusters if cluster.splits}


def soon(query: StreamingQuery, what: str, condition: Callable[[], object]) -> None:
    """Wait for a condition, and fail if the query fails."""

    def done() -> bool:
        failure = query.exception()
        assert failure is None, f"the query failed before {what}: {failure}"
        return bool(condition())

    wait_for(what, done, 120)


def rows_in(folder: Path) -> int:
    """Return the number of rows that the queries of a folder have written."""
    return SinkLog(folder / "out").rows()
