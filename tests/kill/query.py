# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query with one checkpoint, and its runs."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any

from demo.checkpoint import Checkpoint
from kill import killing
from kill.killing import Kill
from kill.life import Life
from kill.scenario import Setting
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


Row = Hashable
"""Identity of a row of a source."""


class Query(ABC):
    """Query with one checkpoint over rows that a test has produced."""

    def __init__(self, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Create a query.

        Args:
            topics: Topics of a broker.
            topic: Name of the topic of the rows, or the first part of its name.
            folder: Folder of the checkpoint, the output and the runs.
        """
        self.topics, self.topic, self.folder = topics, topic, folder
        self.setting = Setting()
        self._lives = itertools.count()

    @property
    @abstractmethod
    def source_options(self) -> Mapping[str, str]:
        """Return the options that determine the rows of the query."""

    @abstractmethod
    def rows(self) -> AbstractSet[Row]:
        """Return the rows that were produced."""

    @abstractmethod
    def row(self, copy: Sequence[str]) -> Row:
        """Return the row of a copy: partition, offset and key."""

    @abstractmethod
    def committed_rows(self) -> AbstractSet[Row]:
        """Return the rows before the offsets of the newest committed batch."""

    def excused(self) -> AbstractSet[Row]:
        """Return the rows that need no copy."""
        return set()

    def given(self, **changes: Any) -> None:
        """Change the setting of the next runs."""
        self.setting = replace(self.setting, **changes)

    @property
    def checkpoint(self) -> Checkpoint:
        """Return the checkpoint of the query."""
        return Checkpoint(self.folder / "checkpoint")

    def start(self, source: str, *kills: Kill, **options: str) -> Life:
        """Start a run that is killed at the first of the steps that it reaches."""
        query = {
            "format": source,
            "options": {
                **self.source_options,
                **self.named({**self._limits, **(self.setting.options or {}), **options}),
                **killing.OPTIONS,
            },
            "select": self.setting.select or SELECT,
            "counted": self.setting.counted,
            "output_mode": self.setting.output_mode,
            "checkpoint": f"{killing.SCHEME}://{self.folder / 'checkpoint'}",
            "output": f"{killing.SCHEME}://{self.folder / 'output'}",
            "sink": self.setting.sink,
            "sink_options": self.setting.sink_options or {},
            "trigger": self.setting.trigger or {"availableNow": True},
        }
        folder = self.folder / f"life-{next(self._lives)}"
        setting = self.setting
        return Life.begin(folder, [query], kills, setting.master, setting.conf, setting.session)

    def named(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return options of a source with their names in the query. A hybrid adds a leg."""
        return options

    @property
    def _limits(self) -> dict[str, str]:
        # Neither batches that end after a fixed time nor epochs have limits.
        is_timed = {"realTime", "continuous"} & (self.setting.trigger or {}).keys()
        return {} if is_timed else {"maxOffsetsPerTrigger": str(BATCH)}
