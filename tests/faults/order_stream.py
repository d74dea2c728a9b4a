# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over one topic of orders that goes on while the world is bad."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import streams
from demo import orders
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog, judge
from faults.gate import Gate
from servers.kafka_topics import KafkaTopics
from servers.waiting import wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_PATIENCE = 180

# Many fetches for few records, so that a fault finds most of a batch unread; and clients that
# give an answer up soon, so that they see the fault at all.
_CLIENT = {
    "kafka.fetch.max.bytes": "16384",
    "kafka.max.partition.fetch.bytes": "16384",
    "kafka.max.poll.records": "200",
    "kafka.request.timeout.ms": "4000",
    "kafka.default.api.timeout.ms": "60000",
    "kafka.reconnect.backoff.max.ms": "500",
}


class OrderStream:
    """A topic of orders, and one query of ours that writes them to Parquet."""

    def __init__(
        self,
        spark: SparkSession,
        topics: KafkaTopics,
        folder: Path,
        servers: str | None = None,
        replicas: int = 1,
    ) -> None:
        """Makes the topic, empty; the query reads it at the servers, by default the topics'."""
        self.spark, self.topics, self.folder, self.produced = spark, topics, folder, 0
        self.topic = f"orders-{uuid.uuid4().hex[:8]}"
        self._servers = servers or topics.bootstrap_servers
        topics.create(self.topic, orders.PARTITIONS, orders.KEPT, replicas)

    def produce(self, rows: int, partition: int | None = None) -> None:
        """Adds orders to the topic, where they belong or all to one partition."""
        first, self.produced = self.produced, self.produced + rows
        records = map(orders.record, range(first, self.produced))
        placed = (r if partition is None else r._replace(partition=partition) for r in records)
        self.topics.produce(self.topic, placed)

    def start(self, gate: Gate | None = None, **options: str) -> StreamingQuery:
        """Starts the query, or goes on with it, through a gate if there is one."""
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
        """Waits until all that was produced is in the sink; the query must not fail before."""
        self.wait_until(
            query, f"{self.produced} rows", lambda: self._sink().rows() >= self.produced
        )

    def wait_until(self, query: StreamingQuery, what: str, condition: Callable[[], bool]) -> None:
        """Waits for a condition; the query must not fail before."""

        def done() -> bool:
            failure = query.exception()
            assert failure is None, f"the query failed before {what}: {failure}"
            return condition()

        wait_for(what, done, _PATIENCE)

    def finish(self, query: StreamingQuery) -> None:
        """Waits for all rows, stops the query, and asserts that each came once."""
        self.wait_for_all(query)
        # A duplicate may come after the last expected row.
        query.processAllAvailable()
        query.stop()
        self.assert_each_once()

    def assert_each_once(self) -> None:
        """Asserts that what came out is what was produced."""
        verdict = judge(self._sink().files(), self.produced)
        assert str(verdict) == f"rows {self.produced} missing 0 duplicated 0"

    def committed(self) -> dict[int, int]:
        """Gives the offset of each partition after the newest batch that is committed."""
        checkpoint = self.folder / "checkpoint"
        batch = Checkpoint(checkpoint).committed()
        offset = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[2]
        return {int(p): end for p, end in json.loads(offset)[self.topic].items()}

    def _sink(self) -> SinkLog:
        return SinkLog(self.folder / "out")
