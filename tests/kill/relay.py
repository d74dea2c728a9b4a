# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over one topic, with Spark's Kafka source and Splice in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from demo import orders
from demo.judge import Verdict, judge_output
from kill.killing import Kill
from kill.life import Life
from kill.query import Query, Row
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics


class Relay(Query):
    """Topic of orders, and a query with one checkpoint, whose source may differ at each start."""

    def __init__(
        self,
        topics: KafkaTopics,
        topic: str,
        folder: Path,
        servers: str | None = None,
        replicas: int = 1,
    ) -> None:
        """Create an empty topic. The default servers of the query are the servers of the topics."""
        super().__init__(topics, topic, folder)
        self.produced = 0
        self.write: Callable[[str, Iterable[Record]], int] = topics.produce
        self.partitions = orders.PARTITIONS
        self.subscription = {"subscribe": topic}
        self._servers = servers or topics.bootstrap_servers
        topics.create(topic, self.partitions, orders.KEPT, replicas)

    def produce(self, rows: int, partition: int | None = None) -> None:
        """Add orders to the topic, in their partitions or in one partition."""
        first, self.produced = self.produced, self.produced + rows
        self.write(self.topic, orders.records(first, self.produced, partition))

    def add_partition(self, rows: int) -> None:
        """Add a partition with orders to the topic."""
        self.partitions += 1
        self.topics.add_partitions(self.topic, self.partitions)
        self.produce(rows, self.partitions - 1)

    @property
    def source_options(self) -> dict[str, str]:
        """Return the options that determine the rows of the query."""
        return {"kafka.bootstrap.servers": self._servers, **self.subscription}

    def run(self, source: str, *kills: Kill, **options: str) -> Life:
        """Run the query until it ends or is killed."""
        with self.start(source, *kills, **options) as life:
            life.process.wait(180)
        return life

    def die(self, source: str, kill: Kill, **options: str) -> None:
        """Run the query with a source until it is killed at a step, and assert the kill."""
        life = self.run(source, kill, **options)
        assert life.acted, f"{source} ended, not killed at {kill}:\n{life.process.tail()}"

    def finish(self, source: str, **options: str) -> None:
        """Run the query with a source to the end of the topic, and assert that it did not fail."""
        life = self.run(source, **options)
        assert life.process.exit_code == 0, f"{source} failed:\n{life.process.tail(80)}"

    def assert_each_once(self) -> None:
        """Assert that the sink has each produced order once."""
        assert str(self.verdict()) == f"rows {self.produced} missing 0 duplicated 0"

    def verdict(self) -> Verdict:
        """Compare the sink with the produced orders."""
        return judge_output(self.folder / "output", self.setting.sink, self.produced)

    def committed(self) -> dict[int, int]:
        """Return the offset of each partition after the newest committed batch."""
        offset = self.checkpoint.committed_offset()
        return {int(p): at for p, at in offset.get(self.topic, {}).items()}

    def rows(self) -> AbstractSet[Row]:
        """Return the partition and offset of each row of the topic."""
        offsets = self.topics.offsets(self.topic)
        return {(p, at) for p, (first, end) in offsets.items() for at in range(first, end)}

    def row(self, copy: Sequence[str]) -> Row:
        """Return the partition and offset of the row of a copy."""
        return int(copy[0]), int(copy[1])

    def committed_rows(self) -> AbstractSet[Row]:
        """Return the partition and offset of each row before the committed offsets."""
        return {(p, at) for p, end in self.committed().items() for at in range(end)}
