# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query over a small history and a topic, its runs, and its output."""

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
from pyspark.sql import SparkSession

from demo import archive, orders
from demo.checkpoint import Checkpoint
from demo.judge import Verdict, judge_output
from kill import classes, killing
from kill.backend.rule import MASTER
from kill.killing import Kill
from kill.life import Life
from servers.kafka.topics import KafkaTopics
from servers.storage.store import Store

_SHARE = 0.6

_LOST = 3
_FIRST_LOST = 1
"""First missing offset. An archive with holes lacks the offsets 1, 4, 7 and so on."""

HISTORY_BATCHES = 3
SWITCH = HISTORY_BATCHES
"""First batch of the live leg."""
LIVE = SWITCH + 1
"""Batch in the middle of the live leg."""

LIVE_SELECT = (
    "CAST(key AS STRING) AS order_id, "
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount, timestamp AS event_time"
)


@dataclass(frozen=True)
class Setting:
    """Configuration of a run. Some tests change it between runs.

    The ``session`` of the tests runs the queries, unless they need a driver process. With
    ``counted``, the query counts the rows of each value of the column ``key``.
    """

    session: SparkSession | None = None
    master: str = MASTER
    sink: str = "parquet"
    output_mode: str = "append"
    select: Sequence[str] | None = None
    trigger: Mapping[str, Any] | None = None
    sink_options: Mapping[str, str] | None = None
    conf: Mapping[str, str] | None = None
    options: Mapping[str, str] | None = None
    queries: int = 1
    custom_rule: bool = False
    counted: bool = False
    store: Store | None = None


class Scenario:
    """A topic, its archive, and one or more queries with their checkpoints.

    The history has three batches, and the live leg has three batches. A batch has at least about
    400 rows.
    """

    def __init__(self, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Create a scenario with an existing topic and history. ``make`` creates these too."""
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
        """Create the topic and the archive. The first run starts the query.

        Args:
            topics: Topics of the broker.
            topic: Name of the topic.
            folder: Folder of the archive, the checkpoint, and the output.
            rows: Initial number of orders of the topic.
            holes: True for an archive that lacks one third of its records.
        """
        scenario = Scenario(topics, topic, folder)
        topics.create(topic, orders.PARTITIONS, orders.KEPT)
        scenario.produce(rows)
        sizes = {p: end for p, (_, end) in topics.offsets(topic).items()}
        scenario.archived = archive.uneven_ends(sizes, _SHARE)
        archive.archive(topics, topic, scenario.archived, scenario.history, 2 * HISTORY_BATCHES)
        scenario.switched = dict(scenario.archived)
        if holes:
            scenario.lose_rows()
        return scenario

    def twin(self, folder: Path) -> Scenario:
        """Return a scenario with the same topic, archive and setting, and no checkpoint."""
        made = Scenario(self.topics, self.topic, folder)
        made.history, made.produced = self.history, self.produced
        made.archived, made.switched = self.archived, self.switched
        made.setting = self.setting
        return made

    def lose_rows(self) -> None:
        """Remove each third record of the archive, so that the log must supply these records.

        The last record of each partition remains, so the end of its history does not change.
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
        """Add orders to the topic, in their partitions or in one partition."""
        first, self.produced = self.produced, self.produced + rows
        self.topics.produce(self.topic, orders.records(first, self.produced, partition))

    @property
    def options(self) -> dict[str, str]:
        """Return the options of ``format("splice")``."""
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
            "live.admission": "eventTime",
            "live.handOver": "offsets",
            "live.select": LIVE_SELECT,
            **({} if self.setting.store else killing.OPTIONS),
            **(self.setting.options or {}),
        }

    def checkpoint(self, query: int = 0) -> Checkpoint:
        """Return the checkpoint of a query."""
        folder = self._checkpoint(query)
        if self.setting.store:
            shutil.rmtree(folder, ignore_errors=True)
            for name, content in self.setting.store.files(self._on_store(query)).items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        return Checkpoint(folder)

    def start(self, *kills: Kill) -> Life:
        """Start a run that is killed at the first of the steps that it reaches."""
        folder = self.folder / f"life-{next(self._lives)}"
        conf = self._conf() if self.setting.store else self.setting.conf
        setting = self.setting
        return Life.begin(folder, self._queries(), kills, setting.master, conf, setting.session)

    def run(self, *kills: Kill) -> Life:
        """Run the queries until they end or are killed. Assert that decisions did not change."""
        life = self.start(*kills)
        self.end(life)
        return life

    def end(self, life: Life) -> None:
        """Wait until a run has ended, and assert that decisions did not change."""
        life.process.wait(180)
        self._assert_decisions_kept()

    def die(self, *kills: Kill) -> Life:
        """Run the queries until they are killed at one of the steps, and assert the kill."""
        life = self.run(*kills)
        assert life.acted, f"the run was not killed at {kills}:\n{life.process.tail()}"
        return life

    def finish(self, *faults: Kill) -> Life:
        """Run the queries to their end, and assert that no query failed."""
        life = self.run(*faults)
        assert life.process.exit_code == 0, f"the run failed:\n{life.process.tail(80)}"
        return life

    def assert_each_once(self, query: int = 0) -> None:
        """Assert that the sink has each produced order once."""
        verdict = str(self.verdict(query))
        assert verdict == f"rows {self.produced} missing 0 duplicated 0", verdict

    def assert_switched_once(self, query: int = 0) -> None:
        """Assert that the side log has one switch, and that the next offset begins at its start."""
        checkpoint = self.checkpoint(query)
        switches = [key for key in checkpoint.entries() if "/hand-over-" in key]
        assert switches == ["leg-live/hand-over-00000000"]
        start = {int(p): offset for p, offset in checkpoint.switch().start[self.topic].items()}
        assert start == self.switched

    def verdict(self, query: int = 0) -> Verdict:
        """Compare the sink with the produced orders."""
        return judge_output(self._output(query), self.setting.sink, self.produced)

    def batch_rows(self, batch: int) -> list[str]:
        """Return the ids of a batch in a sink of batches."""
        table = pq.read_table(self._output(0) / str(batch), columns=["order_id"])
        return sorted(table["order_id"].to_pylist())

    def some_name(self, leg: str) -> str:
        """Return the name of a row in the middle of a leg, in the format of the column."""
        found = sorted(name for name in self.produced_names() if name.startswith(f"{leg}/"))
        return found[len(found) // 2]

    def produced_names(self) -> set[str]:
        """Return the name of each row in the format of the column, ``<leg>/<order id>``."""
        seen = Counter[int]()
        named = set()
        for number in range(self.produced):
            partition = orders.record(number).partition
            leg = "history" if seen[partition] < self.archived[partition] else "live"
            seen[partition] += 1
            named.add(f"{leg}/{orders.order_id(number)}")
        return named

    def given(self, **changes: Any) -> None:
        """Change the setting of the next runs."""
        self.setting = replace(self.setting, **changes)

    def _assert_decisions_kept(self) -> None:
        # A tally is not a decision. After a minute, a tally replaces the previous tally.
        found = self.checkpoint().entries()
        now = {key: text for key, text in found.items() if "/tally-" not in key}
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
        """Return the file with the calls of the custom rule."""
        return self.folder / f"rule-{query}"

    def _output(self, query: int) -> Path:
        return self.folder / f"output-{query}"
