# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over one topic that Spark's own Kafka source and ours read in turns."""

from __future__ import annotations

import itertools
from pathlib import Path

from demo import orders
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog, judge
from kill import killing
from kill.killing import Kill
from kill.life import Life
from servers.kafka_topics import KafkaTopics
from servers.spark_kafka_jars import jars

SPARKS = "kafka"
OURS = "splice-kafka"


class Relay:
    """A topic of orders, and one query with one checkpoint whose source is named at each start."""

    def __init__(self, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Makes the topic, empty; the query starts with the first life."""
        self.topics, self.topic, self.folder, self.produced = topics, topic, folder, 0
        self._partitions = orders.PARTITIONS
        self._lives = itertools.count()
        topics.create(topic, self._partitions, orders.KEPT)

    def produce(self, rows: int, partition: int | None = None) -> None:
        """Adds orders to the topic, where they belong or all to one partition."""
        first, self.produced = self.produced, self.produced + rows
        records = map(orders.record, range(first, self.produced))
        placed = (r if partition is None else r._replace(partition=partition) for r in records)
        self.topics.produce(self.topic, placed)

    def add_partition(self, rows: int) -> None:
        """Gives the topic one more partition, with orders in it."""
        self._partitions += 1
        self.topics.add_partitions(self.topic, self._partitions)
        self.produce(rows, self._partitions - 1)

    @property
    def checkpoint(self) -> Checkpoint:
        """What the query has written down."""
        return Checkpoint(self.folder / "checkpoint")

    def die(self, source: str, kill: Kill, **options: str) -> None:
        """Lets a source go on until the driver is killed at the step, and asserts that it was."""
        life = self._run(source, kill, options)
        assert life.acted, f"{source} ended, not killed at {kill}:\n{life.process.tail()}"

    def finish(self, source: str, **options: str) -> None:
        """Lets a source go on to the end of the topic, and asserts that it did not fail."""
        life = self._run(source, None, options)
        assert life.process.exit_code == 0, f"{source} failed:\n{life.process.tail(80)}"

    def assert_each_once(self) -> None:
        """Asserts that what came out is what was produced."""
        verdict = judge(SinkLog(self.folder / "output").files(), self.produced)
        assert str(verdict) == f"rows {self.produced} missing 0 duplicated 0"

    def _run(self, source: str, kill: Kill | None, options: dict[str, str]) -> Life:
        query = {
            "format": source,
            "options": {
                "kafka.bootstrap.servers": self.topics.bootstrap_servers,
                "subscribe": self.topic,
                "maxOffsetsPerTrigger": "300",
                **options,
            },
            "select": [
                "killing(CAST(key AS STRING)) AS order_id",
                "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount",
            ],
            "checkpoint": f"{killing.SCHEME}://{self.folder / 'checkpoint'}",
            "output": f"{killing.SCHEME}://{self.folder / 'output'}",
            "sink": "parquet",
            "sink_options": {},
            "trigger": {"availableNow": True},
        }
        folder = self.folder / f"life-{next(self._lives)}"
        conf = {"spark.jars": ",".join(jars())}
        life = Life.begin(folder, [query], [kill] if kill else [], conf=conf)
        life.process.wait(180)
        return life
