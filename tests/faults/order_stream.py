# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over one topic of orders that continues during faults."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import streams
from demo import orders
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog, judge
from faults.gate import Gate
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for

# Small fetches, so that most records of a batch are unread at a fault, and short timeouts, so that
# clients detect the fault.
_CLIENT = {
    "kafka.fetch.max.bytes": "16384",
    "kafka.max.partition.fetch.bytes": "16384",
    "kafka.max.poll.records": "200",
    "kafka.request.timeout.ms": "4000",
    "kafka.default.api.timeout.ms": "60000",
    "kafka.reconnect.backoff.max.ms": "500",
}


class OrderStream:
    """A topic of orders, and a query of Splice that writes the orders to Parquet."""

    def __init__(
        self,
        spark: SparkSession,
        topics: KafkaTopics,
        folder: Path,
        servers: str | None = None,
        replicas: int = 1,
    ) -> None:
        """Create an empty topic. The default servers of the query are the servers of the topics."""
        self.spark, self.topics, self.folder, self.produced = spark, topics, folder, 0
        self.topic = f"orders-{uuid.uuid4().hex[:8]}"
        self._servers = servers or topics.bootstrap_servers
        topics.create(self.topic, orders.PARTITIONS, orders.KEPT, replicas)

    def produce(self, rows: int, partition: int | None = None) -> None:
        """Add orders to the topic, in their partitions or in one partition."""
        first, self.produced = self.produced, self.produced + rows
        records = map(orders.record, range(first, self.produced))
        placed = (r if partition is None else r._replace(partition=partition) for r in records)
        self.topics.produce(self.topic, placed)

    def start(self, gate: Gate | None = None, **options: str) -> StreamingQuery:
        """Start or resume the query, with an optional gate."""
        source = self.spark.readStream.format("splice-kafka").options(
            **{
                "kafka.bootstrap.servers": self._servers,
                "subscribe": self.topic,
                "startingOffsets": "earliest",
                **_CLIENT,
                **options,
            }
        )
        rows = source.load().selectExpr(
            "CAST(key AS STRING) AS order_id",
            "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount",
        )
        return streams.start(gate.across(rows) if gate else rows, self.folder)

    def wait_for_all(self, query: StreamingQuery) -> None:
        """Wait until all produced orders are in the sink, and fail if the query fails."""
        self.wait_until(
            query, f"{self.produced} rows", lambda: self._sink().rows() >= self.produced
        )

    def wait_until(self, query: StreamingQuery, what: str, condition: Callable[[], bool]) -> None:
        """Wait for a condition, and fail if the query fails."""

        def done() -> bool:
            failure = query.exception()
            assert failure is None, f"the query failed before {what}: {failure}"
            return condition()

        wait_for(what, done)

    def finish(self, query: StreamingQuery) -> None:
        """Wait for all rows, stop the query, and assert that the sink has each row once."""
        self.wait_for_all(query)
        # The sink may receive a duplicate after the last expected row.
        query.processAllAvailable()
        query.stop()
        self.assert_each_once()

    def assert_each_once(self) -> None:
        """Assert that the sink has each produced order once."""
        verdict = judge(self._sink().files(), self.produced)
        assert str(verdict) == f"rows {self.produced} missing 0 duplicated 0"

    def committed(self) -> dict[int, int]:
        """Return the offset of each partition after the newest committed batch."""
        checkpoint = self.folder / "checkpoint"
        batch = Checkpoint(checkpoint).committed()
        offset = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[2]
        return {int(p): end for p, end in json.loads(offset)[self.topic].items()}

    def _sink(self) -> SinkLog:
        return SinkLog(self.folder / "out")
