# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Metadata that a query applied, from the changes in its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Topic = tuple[str, str]
"""A cluster and a topic on it."""


@dataclass(frozen=True)
class Applied:
    """A change of the metadata.

    Attributes:
        generation: The generation of the document in force.
        topics: The topics of all streams.
        draining: The removed topics that are not drained yet.
    """

    generation: int
    topics: frozenset[Topic]
    draining: frozenset[Topic]


def changes(checkpoint: Path) -> list[Applied]:
    """Lists the changes of a query with one source, oldest first.

    A query whose start is not durable has not begun: the next run begins with the latest document,
    which replaces the earlier one as a whole. So the list begins with the change of the start.
    """
    log = checkpoint / "sources" / "0" / "splice"
    start = json.loads((log / "initial").read_text().splitlines()[-1])["change"]
    entries = sorted(log.glob("change-*"))
    begun = [entry for entry in entries if int(entry.name.rpartition("-")[2]) >= start]
    return [_change(entry.read_text().splitlines()[1:]) for entry in begun]


def owed(topic: Topic, held: Sequence[dict[Topic, int]], log: list[Applied]) -> int:
    """Returns how many rows of a topic must have been read once all drains are over.

    Args:
        topic: The topic.
        held: How many rows each topic held when a generation was published.
        log: The changes of the query.
    """
    last = max((n for n, change in enumerate(log) if topic in change.topics), default=None)
    if last is None:
        return 0
    if last == len(log) - 1:
        return held[-1][topic]
    # All rows of that document were in the topic before the query saw the removal.
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
            (node["cluster"], node["topic"]) for node in nodes if node.get("state") == "draining"
        ),
    )
