# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One query through both sources, and what must be the same of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orders import FIRST_EVENT
from servers.kafka_producer import Record
from servers.kafka_topics import KafkaTopics
from streams import drain, start, written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SPARKS = "kafka"
OURS = "splice-kafka"
SIDES = (SPARKS, OURS)
Ends = list[dict[str, dict[str, int]]]


def records(partition: int, numbers: Iterable[int]) -> list[Record]:
    """Gives records of one partition, a second apart by their numbers."""
    return [Record(f"v{n}", f"k{n}", partition, FIRST_EVENT + n * 1000) for n in numbers]


class Pair:
    """Spark's source and ours in one session, each with the same options."""

    def __init__(self, spark: SparkSession, topics: KafkaTopics, folder: Path) -> None:
        """Takes the session, the topics, and a folder for checkpoints and output."""
        self.spark, self.topics, self.folder = spark, topics, folder
        self.metrics: dict[str, list[dict[str, str]]] = {}
        """What the progress of the last drain said of each side."""

    def stream(self, side: str, options: dict[str, Any]) -> DataFrame:
        """Gives one side's stream."""
        given = {"kafka.bootstrap.servers": self.topics.bootstrap_servers, **options}
        return self.spark.readStream.format(side).options(**given).load()

    def batch(self, side: str, options: dict[str, Any]) -> DataFrame:
        """Gives one side's bounded read."""
        given = {"kafka.bootstrap.servers": self.topics.bootstrap_servers, **options}
        return self.spark.read.format(side).options(**given).load()

    def read(self, **options: Any) -> list[tuple[Any, ...]]:
        """Reads both as a batch, asserts that schema and rows are the same, and gives the rows."""
        theirs, ours = (self.batch(side, options) for side in SIDES)
        assert ours.schema.jsonValue() == theirs.schema.jsonValue()
        rows = contents(theirs)
        assert contents(ours) == rows
        return rows

    def drain(self, **options: Any) -> list[tuple[Any, ...]]:
        """Goes on with both to the end, asserts that all is the same, and gives all rows so far."""
        for side in SIDES:
            query = drain(self.stream(side, options), self.folder / side)
            reports = [report["sources"][0] for report in query.recentProgress]
            self.metrics[side] = [dict(report["metrics"]) for report in reports]
        return self.same()

    def start(self, side: str, **options: Any) -> StreamingQuery:
        """Starts one side, which goes on until it is stopped."""
        return start(self.stream(side, options), self.folder / side)

    def same(self) -> list[tuple[Any, ...]]:
        """Asserts that schema, rows and the end of each batch are the same, and gives the rows."""
        theirs, ours = (written(self.spark, self.folder / side) for side in SIDES)
        assert ours.schema.jsonValue() == theirs.schema.jsonValue()
        assert self.ends(OURS) == self.ends(SPARKS)
        rows = contents(theirs)
        assert contents(ours) == rows
        return rows

    def ends(self, side: str) -> Ends:
        """Lists where each batch ends, from the offset log."""
        logged = (self.folder / side / "checkpoint" / "offsets").glob("[0-9]*")
        in_order = sorted(logged, key=lambda file: int(file.name))
        return [json.loads(file.read_text().splitlines()[-1]) for file in in_order]

    def fail(self, **options: Any) -> tuple[str, str]:
        """Asserts that both streams fail, and gives Spark's text and ours."""
        theirs, ours = (self.failure(side, options) for side in SIDES)
        return theirs, ours

    def failure(self, side: str, options: dict[str, Any]) -> str:
        """Asserts that one side's stream fails, and gives the text."""
        with pytest.raises(Exception) as raised:  # noqa: PT011
            drain(self.stream(side, options), self.folder / side)
        return str(raised.value)


def contents(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Gives all columns of all rows, in the order of the log."""
    rows = frame.orderBy("topic", "partition", "offset").collect()
    return [tuple(_plain(value) for value in row) for row in rows]


def offsets(rows: list[tuple[Any, ...]]) -> list[tuple[int, int]]:
    """Gives partition and offset of rows."""
    return [(row[3], row[4]) for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [tuple(_plain(each) for each in one) for one in value]
    return bytes(value) if isinstance(value, bytearray) else value
