# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query that copies two topics, of which one is deleted and created again."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from demo import orders
from kill.query import Row
from kill.relay import Relay
from soak.kafka.topic_log import TopicLog


class Recreated(Relay):
    """Query over several topics, whose rows are the numbers of orders."""

    log: TopicLog
    """Log of the written and removed orders."""

    def rows(self) -> AbstractSet[Row]:
        """Return the orders of all topics."""
        return {number for one in self.log.all for number in one.numbers}

    def row(self, copy: Sequence[str]) -> Row:
        """Return the order of a copy."""
        return int(copy[-1].removeprefix(orders.PREFIX))

    def excused(self) -> AbstractSet[Row]:
        """Return the orders of deleted topics."""
        return set(self.log.excused())

    def committed_rows(self) -> AbstractSet[Row]:
        """Return the orders before the committed offsets.

        The leading zeros of a partition are the number of recreations that the query has detected.
        """
        ids = self._ids()
        logs = {one.topic_id: one.rows for one in self.log.all}
        offset = self.checkpoint.committed_offset()
        return {
            number
            for topic, partitions in offset.items()
            for p, end in partitions.items()
            for number in logs[ids[topic, len(p) - len(str(int(p)))]].get(int(p), [])[:end]
        }

    def assert_reported(self, copied: AbstractSet[Row]) -> None:
        """Assert that a driver has logged a warning about the unread orders of a deleted topic.

        Args:
            copied: Orders with a copy.
        """
        for removal in self.log.removals:
            if not removal.due or removal.rows <= copied:
                continue
            runs = sorted(self.folder.glob("life-*"), key=lambda run: int(run.name[5:]))
            texts = [
                (run / "driver.log").read_text(errors="replace") for run in runs[removal.life :]
            ]
            named = rf"WARN \w+: \[SPLICE_KAFKA_DATA\..*{re.escape(removal.topic)}\b"
            assert any(re.search(named, text) for text in texts), (
                f"no warning about {len(removal.rows - copied)} unread orders of {removal.topic}"
            )

    def _ids(self) -> dict[tuple[str, int], str]:
        """Return the id of each topic by its name and its number of detected recreations."""
        found: dict[tuple[str, int], str] = {}
        for name, text in sorted(self.checkpoint.entries().items()):
            if name.startswith(("identity-", "generation-")):
                entry: dict[str, Any] = json.loads(text.splitlines()[1])
                found |= {(topic, 0): each for topic, each in entry.get("topics", {}).items()}
                if "number" in entry:
                    found[entry["topic"], entry["number"]] = entry["id"]
        return found
