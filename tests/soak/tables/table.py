# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Table of Delta that a query writes from a topic, and the session of all writers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from demo import orders
from kill.scenario import Scenario
from servers.kafka.cluster import KafkaCluster
from servers.kafka.topics import KafkaTopics
from sessions import session
from soak.tables.fate import Change, TableFate
from tables import formats

_APPENDED = 100
_PER_COMMIT = 700

_COLUMNS = (
    "CAST(key AS STRING) AS order_id",
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount",
    "timestamp AS event_time",
    "topic",
    "partition",
    "offset",
    "CASE offset % 9 WHEN 0 THEN NULL WHEN 1 THEN DATE'0001-01-01' WHEN 2 THEN DATE'9999-12-31' "
    "ELSE date_add(DATE'2026-01-01', CAST(offset % 9 AS INT)) END AS day",
    "CASE offset % 40 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN double('-Infinity') "
    "WHEN 3 THEN -1e9D WHEN 4 THEN 0D ELSE offset % 13 / 7D END AS weight",
)


@dataclass(frozen=True)
class Lake:
    """Topics, and a session with the catalog of Delta."""

    topics: KafkaTopics
    session: SparkSession


@contextmanager
def lake() -> Iterator[Lake]:
    """Start a Kafka cluster and a session for all seeds.

    Raises:
        RuntimeError: if the version of PySpark has no jars of Delta.
    """
    if not formats.HAS_DELTA:
        raise RuntimeError(formats.WITHOUT_DELTA)
    with tempfile.TemporaryDirectory(prefix="splice-lake-") as name, KafkaCluster() as kafka:
        started = session(Path(name), formats.catalogs(name))
        started.sparkContext.setLogLevel("ERROR")
        try:
            yield Lake(kafka.topics, started)
        finally:
            started.stop()


class Table:
    """Table of Delta with the orders of a topic, and its later versions."""

    def __init__(self, lake: Lake, scenario: Scenario, destiny: TableFate) -> None:
        """Write the existing orders of the topic to a table."""
        self._session, self._scenario, self._fate = lake.session, scenario, destiny
        self._path, self._checkpoint = scenario.folder / "table", scenario.folder / "writer"
        self._write()
        if destiny.vectors:
            self._sql(
                "ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
            )
        if destiny.holes:
            self._sql(Change.DELETE.value)
        self._old = {"versionAsOf": str(self._version)} if destiny.old else {}

    @property
    def options(self) -> Mapping[str, str]:
        """Return the options of the query that differ from the options of the scenario."""
        given = self._fate
        history = {"source": "table", "format": "delta", "path": str(self._path)}
        history |= {**given.slicing.options, **given.options, **self._old}
        rule = {"handOver": "writerCheckpoint", "handOver.checkpoint": str(self._checkpoint)}
        live = rule if given.by_checkpoint else {}
        named = (("history", history), ("live", live))
        return {f"{leg}.{key}": value for leg, all_ in named for key, value in all_.items()}

    def change(self, change: Change) -> bool:
        """Change the table, and return False if the change would alter rows of the history."""
        fixed = bool(self._old) or "leg-history/table" in self._scenario.checkpoint().entries()
        if not fixed and not change.keeps_rows:
            return False
        if change is not Change.APPEND:
            self._sql(change.value)
            return True
        self._scenario.produce(_APPENDED)
        self._write(fixed)
        return True

    def _write(self, fixed: bool = False) -> None:
        topics, topic, given = self._scenario.topics, self._scenario.topic, self._fate
        source = self._session.readStream.format(given.writer).options(
            **{
                "source": "kafka",
                "kafka.bootstrap.servers": topics.bootstrap_servers,
                "subscribe": topic,
                "startingOffsets": "earliest",
                "maxOffsetsPerTrigger": str(_PER_COMMIT),
            }
        )
        writer = source.load().selectExpr(*_COLUMNS).writeStream.format("delta")
        writer = writer.option("checkpointLocation", str(self._checkpoint))
        writer = writer.partitionBy(*filter(None, [given.slicing.partition]))
        writer.trigger(availableNow=True).start(str(self._path)).awaitTermination()
        if not fixed:
            ends = {p: end for p, (_, end) in topics.offsets(topic).items()}
            # The first missing offset of each partition is 1 after the deletion.
            self._scenario.switched = dict.fromkeys(ends, 1) if given.holes else ends

    @property
    def _version(self) -> int:
        newest = self._session.sql(f"DESCRIBE HISTORY delta.`{self._path}` LIMIT 1").head()
        assert newest
        return int(newest.version)

    def _sql(self, statement: str) -> None:
        table = f"delta.`{self._path}`"
        self._session.sql(statement.format(table=table, number=self._version)).collect()


def make(lake: Lake, topic: str, folder: Path, destiny: TableFate) -> tuple[Scenario, Table]:
    """Create a topic, a table with its first orders, and the query, which is not started."""
    lake.topics.create(topic, orders.PARTITIONS, orders.KEPT)
    scenario = Scenario(lake.topics, topic, folder)
    scenario.produce(destiny.rows)
    table = Table(lake, scenario, destiny)
    scenario.produce(destiny.later)
    scenario.given(sink=destiny.sink, options=table.options)
    return scenario, table
