# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of a query over several clusters in real-time mode and in continuous mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import Atlas, Place
from clusters.mortal import Mortal
from kill.copies import CONF, CONTINUOUS, REAL_TIME
from kill.killing import Kill

_ROWS = 400

_SELECT = [
    "killing(CAST(key AS STRING)) AS key",
    "concat_ws(',', _cluster, topic, partition, offset, CAST(key AS STRING)) AS value",
]


class _Copies:
    """Copies of the rows of an atlas in a topic, and the ends of the runs of the query."""

    def __init__(self, atlas: Atlas, query: Mortal) -> None:
        self.atlas, self.query = atlas, query
        self.sink = atlas.topic("north")
        self._ends: list[dict[Place, dict[str, int]]] = []

    def given(self, trigger: Mapping[str, Any]) -> None:
        """Write the rows of the next runs to the topic, with a trigger."""
        servers = self.atlas.clusters.north.bootstrap_servers
        self.query.conf = CONF
        self.query.query |= {
            "select": _SELECT,
            "output_mode": "update",
            "sink": "kafka",
            "sink_options": {"kafka.bootstrap.servers": servers, "topic": self.sink},
            "trigger": trigger,
        }

    def die(self, kill: Kill) -> None:
        """Run the query until it is killed at a step."""
        self.query.die(kill)
        self.ended()

    def finish(self) -> None:
        """Run the query until each order has a copy."""
        self.query.live()
        self.query.until("all copies", lambda: not self.missing())
        self.query.finish()
        self.ended()

    def missing(self, *clusters: str) -> set[str]:
        """Return the orders without a copy, of some clusters or of all clusters."""
        copied = {values[-1] for values in self.copies()}
        return {
            order
            for order, (cluster, _) in self.atlas.places.items()
            if order not in copied and (not clusters or cluster in clusters)
        }

    def copies(self) -> Counter[tuple[str, ...]]:
        """Return the number of copies of each row: cluster, topic, partition, offset and order."""
        read = self.atlas.clusters.topics("north").records(self.sink)
        return Counter(tuple((message.value() or b"").decode().split(",")) for message in read)

    def assert_at_least_once(self) -> None:
        """Assert that each order has a copy, and that a committed row is not copied again."""
        assert not self.missing()
        for (cluster, topic, partition, offset, order), times in self.copies().items():
            assert self.atlas.places[order] == (cluster, topic)
            allowed = 1 + sum(
                end.get((cluster, topic), {}).get(partition, 0) <= int(offset) for end in self._ends
            )
            assert times <= allowed, f"{order} has {times} copies, allowed {allowed}"

    def ended(self) -> None:
        """Record the end of a run, after which rows after the committed batch may be read again."""
        clusters = self.query.checkpoint.committed_offset().get("clusters", {})
        self._ends.append(
            {
                (cluster, topic): offsets
                for cluster, topics in clusters.items()
                for topic, offsets in topics.items()
            }
        )


@pytest.fixture
def copies(spark: SparkSession, atlas: Atlas, tmp_path: Path) -> Iterator[_Copies]:
    """A query that is not started."""
    with Mortal(spark, atlas, tmp_path) as query:
        yield _Copies(atlas, query)


@pytest.mark.parametrize("trigger", [REAL_TIME, CONTINUOUS], ids=str)
def test_killed_at_each_kind_of_step(copies: _Copies, trigger: Mapping[str, Any]) -> None:
    atlas = copies.atlas
    first, second = atlas.topic("east", "north"), atlas.topic("north", "east")
    streams = {"orders-a": {"east": [first]}, "orders-b": {"north": [second]}}
    atlas.publish(streams)
    copies.given(trigger)
    for cluster, topic in (("east", first), ("north", second)):
        atlas.produce(cluster, topic, _ROWS)
    copies.die(Kill("row", "order", nth=_ROWS // 2))
    copies.die(Kill("rename", r"/commits/\d+$", nth=1))
    atlas.produce("north", second, _ROWS)
    # The next runs drain the topics of the old clusters, and read the topics of the new clusters.
    streams = {"orders-a": {"north": [first]}, "orders-b": {"east": [second]}}
    atlas.publish(streams)
    for cluster, topic in (("north", first), ("east", second)):
        atlas.produce(cluster, topic, _ROWS)
    copies.die(Kill.entry(r"change-\d+", "after"))
    copies.die(Kill("row", "order", nth=_ROWS // 2))
    copies.die(Kill("rename", r"/commits/\d+$", nth=2))
    copies.finish()
    copies.assert_at_least_once()


def test_killed_while_a_cluster_is_unavailable(copies: _Copies) -> None:
    atlas, query = copies.atlas, copies.query
    topics = {name: atlas.topic(name) for name in ("north", "west")}
    atlas.publish({"orders": {name: [topic] for name, topic in topics.items()}})
    copies.given(REAL_TIME)
    for cluster, topic in topics.items():
        atlas.produce(cluster, topic, _ROWS)
    query.live(slain=True)
    query.until("all copies", lambda: not copies.missing())
    # The driver is killed before some of these rows are read or committed.
    atlas.produce("west", topics["west"], _ROWS)
    atlas.clusters.kill("west")
    try:
        atlas.produce("north", topics["north"], _ROWS)
        query.until("rows of the available cluster", lambda: not copies.missing("north"))
        query.slay()
        copies.ended()
        query.live()
        atlas.produce("north", topics["north"], _ROWS)
        query.until("rows of the available cluster", lambda: not copies.missing("north"))
    finally:
        atlas.clusters.start("west")
    atlas.produce("west", topics["west"], _ROWS)
    query.until("all copies", lambda: not copies.missing())
    query.finish()
    copies.ended()
    copies.assert_at_least_once()
