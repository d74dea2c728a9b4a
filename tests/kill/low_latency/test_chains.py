# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of a chain of files and Kafka in real-time mode and in continuous mode."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from demo import archive
from kill.copies import CONTINUOUS, REAL_TIME, Copies
from kill.killing import Kill
from kill.relay import Relay
from servers.kafka.topics import KafkaTopics

_ROWS = 1000
_SHARE = 0.5
_HAND_OVER = "leg-live/hand-over-.*"

_SELECT = [
    "substring_index(killing(concat(_leg, '/', key)), '/', -1) AS key",
    "concat_ws(',', partition, offset, key) AS value",
]


class _Chain(Relay):
    """Topic whose first records are read from an archive."""

    def __init__(self, topics: KafkaTopics, topic: str, folder: Path) -> None:
        super().__init__(topics, topic, folder)
        self.history = folder / "history"

    def keep(self) -> None:
        """Write the first records of each partition to the archive."""
        sizes = {p: end for p, (_, end) in self.topics.offsets(self.topic).items()}
        ends = archive.uneven_ends(sizes, _SHARE)
        archive.archive(self.topics, self.topic, ends, self.history, 4)

    @property
    def source_options(self) -> dict[str, str]:
        live = {f"live.{key}": value for key, value in super().source_options.items()}
        return {
            "source": "hybrid",
            "legs": "history,live",
            "history.source": "files",
            "history.format": "parquet",
            "history.path": str(self.history),
            "history.select": "order_id AS key, partition, offset",
            "live.source": "kafka",
            "live.handOver": "offsets",
            "live.select": "CAST(key AS STRING) AS key, partition, offset",
            **live,
        }

    def committed(self) -> dict[int, int]:
        """Return the live leg's offset of each partition after the newest committed batch."""
        batch = self.checkpoint.committed()
        legs = self.checkpoint.offset(batch)["legs"] if batch >= 0 else {}
        return {int(p): at for p, at in legs.get("live", {}).get(self.topic, {}).items()}


@pytest.fixture
def copies(topics: KafkaTopics, tmp_path: Path) -> Copies:
    """A topic with an archive of its first half, and a query that is not started."""
    chain = _Chain(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path)
    chain.produce(_ROWS)
    chain.keep()
    return Copies(chain, select=_SELECT, start={}, source="splice")


@pytest.mark.parametrize("trigger", [REAL_TIME, CONTINUOUS], ids=str)
def test_killed_in_each_leg_and_at_the_switch(copies: Copies, trigger: Mapping[str, Any]) -> None:
    for kill in (
        Kill("row", "history/", nth=_ROWS // 4, action="signal"),
        Kill.entry(_HAND_OVER, action="signal"),
        Kill.entry(_HAND_OVER, "after", "signal"),
        Kill("row", "live/", nth=_ROWS // 4, action="signal"),
        Kill("rename", r"/commits/\d+$", nth=2, action="signal"),
    ):
        copies.die(trigger, kill)
        copies.relay.produce(_ROWS // 10)
    copies.finish(trigger)
    copies.assert_at_least_once()
    switches = [key for key in copies.relay.checkpoint.entries() if "/hand-over-" in key]
    assert switches == ["leg-live/hand-over-00000000"]
