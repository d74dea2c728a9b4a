# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query with both sources, and the comparison of its results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from orders import FIRST_EVENT
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from streams import drain, start, written

SPARKS = "kafka"
OURS = "splice-kafka"
SIDES = (SPARKS, OURS)
Ends = list[dict[str, dict[str, int]]]


def records(partition: int, numbers: Iterable[int]) -> list[Record]:
    """Return records of one partition. The number of a record is its timestamp in seconds."""
    return [Record(f"v{n}", f"k{n}", partition, FIRST_EVENT + n * 1000) for n in numbers]


class Pair:
    """Spark's source and Splice in one session, with the same options."""

    def __init__(self, spark: SparkSession, topics: KafkaTopics, folder: Path) -> None:
        """Create a pair with a session, topics, and a folder for checkpoints and output."""
        self.spark, self.topics, self.folder = spark, topics, folder
        self.metrics: dict[str, list[dict[str, str]]] = {}
        """Metrics of each side in the progress of the last drain."""

    def stream(self, side: str, options: dict[str, Any]) -> DataFrame:
        """Return the stream of one side."""
        given = {"kafka.bootstrap.servers": self.topics.bootstrap_servers, **options}
        return self.spark.readStream.format(side).options(**given).load()

    def batch(self, side: str, options: dict[str, Any]) -> DataFrame:
        """Return the bounded read of one side."""
        given = {"kafka.bootstrap.servers": self.topics.bootstrap_servers, **options}
        return self.spark.read.format(side).options(**given).load()

    def read(self, **options: Any) -> list[tuple[Any, ...]]:
        """Read both sides as a batch, assert equal schemas and rows, and return the rows."""
        theirs, ours = (self.batch(side, options) for side in SIDES)
        assert ours.schema.jsonValue() == theirs.schema.jsonValue()
        rows = contents(theirs)
        assert contents(ours) == rows
        return rows

    def drain(self, **options: Any) -> list[tuple[Any, ...]]:
        """Run both sides to the end, assert that they are equal, and return all rows so far."""
        for side in SIDES:
            query = drain(self.stream(side, options), self.folder / side)
            reports = [report["sources"][0] for report in query.recentProgress]
            self.metrics[side] = [dict(report["metrics"]) for report in reports]
        return self.same()

    def start(self, side: str, **options: Any) -> StreamingQuery:
        """Start the query of one side, which runs until a stop."""
        return start(self.stream(side, options), self.folder / side)

    def same(self) -> list[tuple[Any, ...]]:
        """Assert that schemas, rows and the ends of batches are equal, and return the rows."""
        theirs, ours = (written(self.spark, self.folder / side) for side in SIDES)
        assert ours.schema.jsonValue() == theirs.schema.jsonValue()
        assert self.ends(OURS) == self.ends(SPARKS)
        rows = contents(theirs)
        assert contents(ours) == rows
        return rows

    def ends(self, side: str) -> Ends:
        """Return the end of each batch in the offset log."""
        logged = (self.folder / side / "checkpoint" / "offsets").glob("[0-9]*")
        in_order = sorted(logged, key=lambda file: int(file.name))
        return [json.loads(file.read_text().splitlines()[-1]) for file in in_order]

    def fail(self, **options: Any) -> tuple[str, str]:
        """Assert that both streams fail, and return the messages of Spark and of Splice."""
        theirs, ours = (self.failure(side, options) for side in SIDES)
        return theirs, ours

    def failure(self, side: str, options: dict[str, Any]) -> str:
        """Assert that the stream of one side fails, and return the message."""
        with pytest.raises(Exception) as raised:  # noqa: PT011
            drain(self.stream(side, options), self.folder / side)
        return str(raised.value)


def contents(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return all columns of all rows, in the order of the log."""
    rows = frame.orderBy("topic", "partition", "offset").collect()
    return [tuple(_plain(value) for value in row) for row in rows]


def offsets(rows: list[tuple[Any, ...]]) -> list[tuple[int, int]]:
    """Return partition and offset of rows."""
    return [(row[3], row[4]) for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [tuple(_plain(each) for each in one) for one in value]
    return bytes(value) if isinstance(value, bytearray) else value
