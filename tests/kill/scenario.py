# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over a small history and topic, the lives of its driver, and what came out of them."""

from __future__ import annotations

import itertools
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from demo import archive, orders
from demo.checkpoint import Checkpoint
from demo.judge import Verdict, judge_output
from kill import classes, killing
from kill.killing import Kill
from kill.life import Life
from servers.kafka_topics import KafkaTopics
from servers.store import Store

_SHARE = 0.6

_LOST = 3
_FIRST_LOST = 1
"""Offsets 1, 4, 7 and so on are not in an archive with holes."""

HISTORY_BATCHES = 3
SWITCH = HISTORY_BATCHES
"""The first live batch."""
LIVE = SWITCH + 1
"""A batch in the middle of the live leg."""

LIVE_SELECT = (
    "CAST(key AS STRING) AS order_id, "
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount, timestamp AS event_time"
)


@dataclass(frozen=True)
class Setting:
    """What a life of the driver is given, and what changes from one to the next in some tests."""

    master: str = "local[2]"
    sink: str = "parquet"
    output_mode: str = "append"
    select: Sequence[str] | None = None
    trigger: Mapping[str, Any] | None = None
    sink_options: Mapping[str, str] | None = None
    conf: Mapping[str, str] | None = None
    options: Mapping[str, str] | None = None
    queries: int = 1
    custom_rule: bool = False
    store: Store | None = None


class Scenario:
    """A topic of its own, its archive, and one or more queries with their checkpoints.

    The history takes three batches, the live leg three more; a batch has about 400 rows or more.
    """

    def __init__(self, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Takes a topic and a history that are there; ``make`` makes them."""
        self.topics, self.topic, self.folder, self.produced = topics, topic, folder, 0
        self.history = folder / "history"
        self.archived: dict[int, int] = {}
        self.switched: dict[int, int] = {}
        self.setting = Setting()
        self._lives = itertools.count()
        self._decided: dict[str, str] = {}

    @staticmethod
    def make(
        topics: KafkaTopics, topic: str, folder: Path, rows: int = 3000, holes: bool = False
    ) -> Scenario:
        """Makes topic and archive; the query starts with the first life.

        Args:
            topics: The broker.
            topic: Its name.
            folder: Of the archive, the checkpoint, and the output.
            rows: How many orders the topic has at first.
            holes: Whether the archive lacks a third of the records that it should have.
        """
        made = Scenario(topics, topic, folder)
        topics.create(topic, orders.PARTITIONS, orders.KEPT)
        made.produce(rows)
        sizes = {p: end for p, (_, end) in topics.offsets(topic).items()}
        made.archived = archive.uneven_ends(sizes, _SHARE)
        archive.archive(topics, topic, made.archived, made.history, 2 * HISTORY_BATCHES)
        made.switched = dict(made.archived)
        if holes:
            made.lose_rows()
        return made

    def lose_rows(self) -> None:
        """Removes each third record of the archive, so that the log must supply them.

        The last record of a partition stays, and so does the end of its history.
        """
        for file in sorted(self.history.glob("*.parquet")):
            table = pq.read_table(file)
            places = zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True)
            kept = [
                offset % _LOST != _FIRST_LOST or offset == self.archived[partition] - 1
                for partition, offset in places
            ]
            pq.write_table(table.filter(pa.array(kept)), file)
        self.switched = dict.fromkeys(self.archived, _FIRST_LOST)

    def produce(self, rows: int, partition: int | None = None) -> None:
        """Adds orders to the topic, where they belong or all to one partition."""
        first, self.produced = self.produced, self.produced + rows
        self.topics.produce(self.topic, orders.records(first, self.produced, partition))

    @property
    def options(self) -> dict[str, str]:
        """The source, as the options of ``format("splice")``."""
        return {
            "source": "hybrid",
            "legs": "history,live",
            "history.source": "files",
            "history.format": "parquet",
            "history.path": str(self.history),
            "history.maxFilesPerTrigger": "2",
            "history.select": "order_id, amount, event_time",
            "live.source": "kafka",
            "live.kafka.bootstrap.servers": self.topics.bootstrap_servers,
            "live.subscribe": self.topic,
            "live.maxOffsetsPerTrigger": "450",
            "live.handOver": "offsets",
            "live.select": LIVE_SELECT,
            **({} if self.setting.store else killing.OPTIONS),
            **(self.setting.options or {}),
        }

    def checkpoint(self, query: int = 0) -> Checkpoint:
        """Reads a query's checkpoint."""
        folder = self._checkpoint(query)
        if self.setting.store:
            shutil.rmtree(folder, ignore_errors=True)
            for name, content in self.setting.store.files(self._on_store(query)).items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        return Checkpoint(folder)

    def start(self, *kills: Kill) -> Life:
        """Starts a driver that dies at the first of the steps that it comes to."""
        folder = self.folder / f"life-{next(self._lives)}"
        conf = self._conf() if self.setting.store else self.setting.conf
        return Life.begin(folder, self._queries(), kills, self.setting.master, conf)

    def run(self, *kills: Kill) -> Life:
        """Runs a driver to its end, of whatever kind, and asserts that decisions were kept."""
        life = self.start(*kills)
        self.end(life)
        return life

    def end(self, life: Life) -> None:
        """Waits until a driver has ended, and asserts that decisions were kept."""
        life.process.wait(180)
        self._assert_decisions_kept()

    def die(self, *kills: Kill) -> Life:
        """Runs a driver until it dies at one of the steps, and asserts that it did."""
        life = self.run(*kills)
        assert life.acted, f"it ended and was not killed at {kills}:\n{life.process.tail()}"
        return life

    def finish(self, *faults: Kill) -> Life:
        """Runs a driver to its end, and asserts that it did not fail."""
        life = self.run(*faults)
        assert life.process.exit_code == 0, f"the driver failed:\n{life.process.tail(80)}"
        return life

    def assert_each_once(self, query: int = 0) -> None:
        """Asserts that what came out is what was produced."""
        assert str(self.verdict(query)) == f"rows {self.produced} missing 0 duplicated 0"

    def assert_switched_once(self, query: int = 0) -> None:
        """Asserts that one switch is in the side log, and the offset after it starts there."""
        checkpoint = self.checkpoint(query)
        made = [key for key in checkpoint.entries() if "/hand-over-" in key]
        assert made == ["leg-live/hand-over-00000000"]
        start = {int(p): offset for p, offset in checkpoint.switch().start[self.topic].items()}
        assert start == self.switched

    def verdict(self, query: int = 0) -> Verdict:
        """Compares what came out with what was produced."""
        return judge_output(self._output(query), self.setting.sink, self.produced)

    def batch_rows(self, batch: int) -> list[str]:
        """Lists the ids that a batch has brought to a sink of batches."""
        table = pq.read_table(self._output(0) / str(batch), columns=["order_id"])
        return sorted(table["order_id"].to_pylist())

    def some_name(self, leg: str) -> str:
        """Names a row in the middle of the leg, as the column sees it."""
        found = sorted(name for name in self.produced_names() if name.startswith(f"{leg}/"))
        return found[len(found) // 2]

    def produced_names(self) -> set[str]:
        """Names each row as the column sees it, ``<leg>/<order id>``."""
        seen = Counter[int]()
        named = set()
        for number in range(self.produced):
            partition = orders.record(number).partition
            leg = "history" if seen[partition] < self.archived[partition] else "live"
            seen[partition] += 1
            named.add(f"{leg}/{orders.order_id(number)}")
        return named

    def given(self, **changes: Any) -> None:
        """Changes the setting for the lives to come."""
        self.setting = replace(self.setting, **changes)

    def _assert_decisions_kept(self) -> None:
        now = self.checkpoint().entries()
        assert {key: now.get(key) for key in self._decided} == self._decided
        self._decided = now

    def _queries(self) -> list[dict[str, Any]]:
        setting = self.setting
        return [
            {
                "options": self.options,
                "checkpoint": self._address(query),
                "output": f"{killing.SCHEME}://{self._output(query)}",
                "sink": setting.sink,
                "sink_options": setting.sink_options or {},
                "trigger": setting.trigger or {"availableNow": True},
                "custom_rule": str(self.notes(query)) if setting.custom_rule else None,
            }
            for query in range(setting.queries)
        ]

    def _checkpoint(self, query: int) -> Path:
        return self.folder / f"checkpoint-{query}"

    def _address(self, query: int) -> str:
        if self.setting.store:
            return self.setting.store.url(self._on_store(query))
        return f"{killing.SCHEME}://{self._checkpoint(query)}"

    def _on_store(self, query: int) -> str:
        return f"{self.topic}/checkpoint-{query}"

    def _conf(self) -> dict[str, str]:
        assert self.setting.store
        hadoop = {f"spark.hadoop.{key}": value for key, value in self.setting.store.conf.items()}
        jars = map(str, self.setting.store.jars)
        path = {key: os.pathsep.join([old, *jars]) for key, old in classes.conf().items()}
        return {**hadoop, **path, **(self.setting.conf or {})}

    def notes(self, query: int = 0) -> Path:
        """Names the file with the calls of the rule of the user."""
        return self.folder / f"rule-{query}"

    def _output(self, query: int) -> Path:
        return self.folder / f"output-{query}"
