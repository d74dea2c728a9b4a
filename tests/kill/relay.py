# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over one topic, which Spark's own Kafka source and ours may read in turns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from demo import orders
from demo.checkpoint import Checkpoint
from demo.judge import Verdict, judge_output
from kill import killing
from kill.killing import Kill
from kill.life import Life
from kill.scenario import Setting
from servers.kafka_producer import Record
from servers.kafka_topics import KafkaTopics
from servers.spark_kafka_jars import jars

SPARKS = "kafka"
OURS = "splice-kafka"

SELECT = [
    "killing(CAST(key AS STRING)) AS order_id",
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount",
]
"""What a query makes of a topic's orders, each passed by the column that kills."""

BATCH = 300
"""The most rows of a batch, unless an option says otherwise."""


class Relay:
    """A topic of orders, and one query with one checkpoint whose source is named at each start."""

    def __init__(
        self,
        topics: KafkaTopics,
        topic: str,
        folder: Path,
        servers: str | None = None,
        replicas: int = 1,
    ) -> None:
        """Makes the topic, empty; the query reads it at the servers, by default the topics'."""
        self.topics, self.topic, self.folder, self.produced = topics, topic, folder, 0
        self.setting = Setting()
        self.write: Callable[[str, Iterable[Record]], int] = topics.produce
        self.partitions = orders.PARTITIONS
        self.subscription = {"subscribe": topic}
        self._servers = servers or topics.bootstrap_servers
        self._lives = itertools.count()
        topics.create(topic, self.partitions, orders.KEPT, replicas)

    def given(self, **changes: Any) -> None:
        """Changes the setting for the lives to come."""
        self.setting = replace(self.setting, **changes)

    def produce(self, rows: int, partition: int | None = None) -> None:
        """Adds orders to the topic, where they belong or all to one partition."""
        first, self.produced = self.produced, self.produced + rows
        self.write(self.topic, orders.records(first, self.produced, partition))

    def add_partition(self, rows: int) -> None:
        """Gives the topic one more partition, with orders in it."""
        self.partitions += 1
        self.topics.add_partitions(self.topic, self.partitions)
        self.produce(rows, self.partitions - 1)

    @property
    def checkpoint(self) -> Checkpoint:
        """What the query has written down."""
        return Checkpoint(self.folder / "checkpoint")

    def start(self, source: str, *kills: Kill, **options: str) -> Life:
        """Starts a driver that dies at the first of the steps that it comes to."""
        query = {
            "format": source,
            "options": {
                "kafka.bootstrap.servers": self._servers,
                **self.subscription,
                **self._limits,
                **killing.OPTIONS,
                **(self.setting.options or {}),
                **options,
            },
            "select": self.setting.select or SELECT,
            "output_mode": self.setting.output_mode,
            "checkpoint": f"{killing.SCHEME}://{self.folder / 'checkpoint'}",
            "output": f"{killing.SCHEME}://{self.folder / 'output'}",
            "sink": self.setting.sink,
            "sink_options": self.setting.sink_options or {},
            "trigger": self.setting.trigger or {"availableNow": True},
        }
        folder = self.folder / f"life-{next(self._lives)}"
        conf = {"spark.jars": ",".join(jars())} if source == SPARKS else {}
        conf |= self.setting.conf or {}
        return Life.begin(folder, [query], kills, self.setting.master, conf)

    @property
    def _limits(self) -> dict[str, str]:
        # Batches that a time ends, and epochs, have no limits.
        is_timed = {"realTime", "continuous"} & (self.setting.trigger or {}).keys()
        return {} if is_timed else {"maxOffsetsPerTrigger": str(BATCH)}

    def run(self, source: str, *kills: Kill, **options: str) -> Life:
        """Runs a driver to its end, of whatever kind."""
        life = self.start(source, *kills, **options)
        try:
            life.process.wait(180)
        finally:
            life.process.kill()
        return life

    def die(self, source: str, kill: Kill, **options: str) -> None:
        """Lets a source go on until the driver is killed at the step, and asserts that it was."""
        life = self.run(source, kill, **options)
        assert life.acted, f"{source} ended, not killed at {kill}:\n{life.process.tail()}"

    def finish(self, source: str, **options: str) -> None:
        """Lets a source go on to the end of the topic, and asserts that it did not fail."""
        life = self.run(source, **options)
        assert life.process.exit_code == 0, f"{source} failed:\n{life.process.tail(80)}"

    def assert_each_once(self) -> None:
        """Asserts that what came out is what was produced."""
        assert str(self.verdict()) == f"rows {self.produced} missing 0 duplicated 0"

    def verdict(self) -> Verdict:
        """Compares what came out with what was produced."""
        return judge_output(self.folder / "output", self.setting.sink, self.produced)

    def committed(self) -> dict[int, int]:
        """Gives where each partition is after the newest batch in the commit log."""
        batch = self.checkpoint.committed()
        offset = self.checkpoint.offset(batch) if batch >= 0 else {}
        return {int(p): at for p, at in offset.get(self.topic, {}).items()}
