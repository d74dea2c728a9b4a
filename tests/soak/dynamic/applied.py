# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Metadata that a query applied, from the changes in its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Topic = tuple[str, str]
"""Cluster and topic."""


@dataclass(frozen=True)
class Applied:
    """Change of the metadata.

    Attributes:
        generation: Generation of the applied document.
        topics: Topics of all streams.
        draining: Removed topics that are not drained yet.
    """

    generation: int
    topics: frozenset[Topic]
    draining: frozenset[Topic]


def changes(checkpoint: Path) -> list[Applied]:
    """Return the changes of a query with one source, oldest first.

    If the start of a query is not durable, the next run begins with the latest document, which
    replaces the earlier document completely. So the list begins with the change of the start.
    """
    log = checkpoint / "sources" / "0" / "splice"
    start = json.loads((log / "initial").read_text().splitlines()[-1])["change"]
    entries = sorted(log.glob("change-*"))
    begun = [entry for entry in entries if int(entry.name.rpartition("-")[2]) >= start]
    return [_change(entry.read_text().splitlines()[1:]) for entry in begun]


def owed(topic: Topic, held: Sequence[dict[Topic, int]], log: Sequence[Applied]) -> int:
    """Return the number of rows of a topic that must have been read after all drains.

    Args:
        topic: The topic.
        held: Number of rows of each topic at the publication of each generation.
        log: Changes of the query.
    """
    last = max((n for n, change in enumerate(log) if topic in change.topics), default=None)
    if last is None:
        return 0
    if last == len(log) - 1:
        return held[-1][topic]
    # All rows of that document were in the topic before the query received the removal.
    return held[log[last + 1].generation][topic]


def _change(lines: list[str]) -> Applied:
    nodes = [json.loads(line) for line in lines]
    return Applied(
        generation=nodes[0]["generation"],
        topics=frozenset(
            (cluster, topic)
            for node in nodes
            for cluster, topics in (node["topics"].items() if "stream" in node else ())
            for topic in topics
        ),
        draining=frozenset(
            (node["cluster"], node["topic"])
            for node in nodes
            if node.get("state") in ("draining", "pending")
        ),
    )
