# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over one topic, with Spark's Kafka source and Splice in turns."""

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
from servers.kafka.producer import Record
from servers.kafka.spark_jars import jars
from servers.kafka.topics import KafkaTopics

SPARKS = "kafka"
OURS = "splice-kafka"

SELECT = [
    "killing(CAST(key AS STRING)) AS order_id",
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount",
]
"""SELECT list of a query over a topic's orders, with the killing column."""

BATCH = 300
"""Maximum number of rows per batch, unless an option sets another number."""


class Relay:
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
        self.topics, self.topic, self.folder, self.produced = topics, topic, folder, 0
        self.setting = Setting()
        self.write: Callable[[str, Iterable[Record]], int] = topics.produce
        self.partitions = orders.PARTITIONS
        self.subscription = {"subscribe": topic}
        self._servers = servers or topics.bootstrap_servers
        self._lives = itertools.count()
        topics.create(topic, self.partitions, orders.KEPT, replicas)

    def given(self, **changes: Any) -> None:
        """Change the setting of the next runs."""
        self.setting = replace(self.setting, **changes)

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
    def checkpoint(self) -> Checkpoint:
        """Return the checkpoint of the query."""
        return Checkpoint(self.folder / "checkpoint")

    def start(self, source: str, *kills: Kill, **options: str) -> Life:
        """Start a driver that is killed at the first of the steps that it reaches."""
        query = {
            "format": source,
            "options": {
                **self.source_options,
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
    def source_options(self) -> dict[str, str]:
        """Return the options that determine the rows of the query."""
        return {"kafka.bootstrap.servers": self._servers, **self.subscription}

    @property
    def _limits(self) -> dict[str, str]:
        # Neither batches that end after a fixed time nor epochs have limits.
        is_timed = {"realTime", "continuous"} & (self.setting.trigger or {}).keys()
        return {} if is_timed else {"maxOffsetsPerTrigger": str(BATCH)}

    def run(self, source: str, *kills: Kill, **options: str) -> Life:
        """Run a driver until it ends or is killed."""
        life = self.start(source, *kills, **options)
        try:
            life.process.wait(180)
        finally:
            life.process.kill()
        return life

    def die(self, source: str, kill: Kill, **options: str) -> None:
        """Run the query with a source until the driver is killed at a step, and assert the kill."""
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
        batch = self.checkpoint.committed()
        offset = self.checkpoint.offset(batch) if batch >= 0 else {}
        return {int(p): at for p, at in offset.get(self.topic, {}).items()}
