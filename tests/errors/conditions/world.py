# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Sources that provoke errors, and the conditions of these errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from conftest import MakeTopic
from orders import FIRST_EVENT, HISTORY_SELECT, LIVE_SELECT, archive, orders
from servers.kafka.cluster import KafkaCluster
from servers.ports import free_ports
from servers.waiting import PATIENCE
from streams import drain

UNUSED = "127.0.0.1:1"
"""Address of brokers that no request reaches."""


class World:
    """Session, brokers and an empty folder of one case."""

    def __init__(
        self,
        spark: SparkSession,
        kafka: KafkaCluster,
        other_kafka: Callable[[], KafkaCluster],
        make_topic: MakeTopic,
        folder: Path,
    ) -> None:
        """Take the fixtures of a test."""
        self.spark, self.kafka, self.topics = spark, kafka, kafka.topics
        self.other_kafka, self.make_topic, self.folder = other_kafka, make_topic, folder

    def path(self, name: str) -> str:
        """Return a path in the folder of the case."""
        return str(self.folder / name)

    def write(self, name: str, text: str) -> str:
        """Write a file, and return its path."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return str(file)

    def read(self, **options: str) -> int:
        """Return the number of rows of a batch read."""
        return self.spark.read.format("splice").options(**options).load().count()

    def drain(self, **options: str) -> StreamingQuery:
        """Run a stream with AvailableNow on the checkpoint of the case."""
        return drain(self.spark.readStream.format("splice").options(**options).load(), self.folder)

    def start_and_stop(self, **options: str) -> None:
        """Run a query to the end of its first batch, and fail its second batch."""
        seen: list[int] = []

        def fail_the_second(_: DataFrame, batch: int) -> None:
            seen.append(batch)
            if batch > 0:
                raise RuntimeError("planted failure of the second batch")

        writer = self.spark.readStream.format("splice").options(**options).load().writeStream
        query = (
            writer.foreachBatch(fail_the_second)
            .option("checkpointLocation", self.path("checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        with pytest.raises(StreamingQueryException, match="planted failure"):
            query.awaitTermination(PATIENCE)
        assert seen == [0, 1]

    def unused_kafka(self, **more: str) -> dict[str, str]:
        """Return options of a Kafka source whose brokers do not exist."""
        servers = {"kafka.bootstrap.servers": UNUSED}
        return {"source": "kafka", "subscribe": "orders"} | servers | more

    def real_kafka(self, topic: str, **more: str) -> dict[str, str]:
        """Return options of a Kafka source of the broker of the tests."""
        servers = {"kafka.bootstrap.servers": self.kafka.bootstrap_servers}
        retries = {"fetchOffset.numRetries": "0"}
        return {"source": "kafka", "subscribe": topic} | servers | retries | more

    def parquet(self, name: str, columns: str, rows: int = 3) -> str:
        """Write rows as one Parquet file, and return the folder."""
        path = self.path(name)
        self.spark.range(rows).selectExpr(*columns.split(";")).coalesce(1).write.parquet(path)
        return path

    def files(self, path: str, **more: str) -> dict[str, str]:
        """Return options of a source of Parquet files."""
        return {"source": "files", "format": "parquet", "path": path} | more

    def topic(self, rows: int = 60) -> str:
        """Create a topic with three partitions and the same number of orders in each."""
        name = self.make_topic()
        self.topics.produce(name, orders(range(rows), 3))
        return name

    def archived(self, topic: str, until: int = 10) -> str:
        """Write an archive of the first records of each partition, and return the folder."""
        path = self.folder / "history"
        archive(self.topics, topic, path, dict.fromkeys(range(3), until))
        return str(path)

    def chain(self, history: str, live: dict[str, str], **more: str) -> dict[str, str]:
        """Return options of a hybrid of an archive and a log, with a hand-over by offsets."""
        first = {"source": "files", "format": "parquet", "path": history, "select": HISTORY_SELECT}
        then = {"handOver": "offsets", "select": LIVE_SELECT} | live
        return (
            {"source": "hybrid", "legs": "history,live"}
            | {f"history.{name}": value for name, value in first.items()}
            | {f"live.{name}": value for name, value in then.items()}
            | more
        )

    def document(
        self, streams: dict[str, dict[str, list[str]]], generation: int = 1, **more: object
    ) -> dict[str, str]:
        """Write a metadata document, and return the options of its source.

        Each cluster of a stream has the brokers of the tests, unless ``more`` has ``clusters``.
        """
        servers = {"bootstrapServers": self.kafka.bootstrap_servers}
        clusters = {name: servers for places in streams.values() for name in places}
        content = {"version": 1, "generation": generation, "clusters": clusters, "streams": streams}
        self.write("next.json", json.dumps(content | more))
        (self.folder / "next.json").replace(self.folder / "streams.json")
        return {
            "source": "dynamicKafka",
            "streams": "orders",
            "metadata.file": self.path("streams.json"),
            "startingOffsets": "earliest",
        }


class Case(NamedTuple):
    """Provoked error of a condition.

    Attributes:
        provoke: Function that raises the error, or returns the text of an error in the progress of
            a query.
        patterns: Regular expressions of the text of the error.
    """

    provoke: Callable[[World], str | None]
    patterns: tuple[str, ...]

    def error(self, world: World) -> str:
        """Provoke the error, and return its text."""
        try:
            return str(self.provoke(world))
        except Exception as error:  # the kinds of the errors differ, and their texts are checked
            return str(error)


CASES: dict[str, Case] = {}
"""The case of each condition."""


def provokes(
    condition: str, *patterns: str
) -> Callable[[Callable[[World], str | None]], Callable[[World], str | None]]:
    """Add a function to the cases."""

    def add(provoke: Callable[[World], str | None]) -> Callable[[World], str | None]:
        assert condition not in CASES, f"{condition} has two cases"
        CASES[condition] = Case(provoke, (rf"\[{re.escape(condition)}\]", *patterns))
        return provoke

    return add


def closed_port() -> str:
    """Return an address of this machine on which no server listens."""
    return f"127.0.0.1:{free_ports(1)[0]}"


LATE = str(FIRST_EVENT + 1_000_000_000)
"""A time in milliseconds after the last order."""
