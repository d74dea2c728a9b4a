# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of the driver at each kind of change under load, before and after the change is durable."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import Atlas, Place
from clusters.load import Load
from clusters.mortal import Mortal
from kill.backend.sample import REAL
from kill.killing import Kill
from servers.clusters import NAMES
from servers.waiting import wait_for

Step = Callable[[int], Kill]
"""Step at which a run is killed, as a function of the next planned batch."""

_HOUR = 3600

_UNREAD = 60
"""Number of rows per partition that a topic receives before its cutover at offsets."""

_FIRST = {"rotated": "west", "gone": "north", "moved": "east", "mapped": "north", "timed": "east"}
"""First cluster of each stream. One cluster requires a login, and another has proxies."""


def taken(_batch: int) -> Kill:
    """Kill after the next change is durable, and before a batch uses the change."""
    return Kill.entry(r"change-\d+", "after")


def ended(_batch: int) -> Kill:
    """Kill after the following change is durable, which has the ends of removed topics."""
    return Kill("rename", r"/sources/0/splice/change-\d+$", "after", 2)


def planned(batch: int) -> Kill:
    """Kill after the planning of a batch that uses the change."""
    return Kill.offsets(batch, "after")


def read(batch: int) -> Kill:
    """Kill after that batch is in the sink, and before Spark commits it."""
    return Kill.commits(batch, action=REAL["dynamic"].action)


class World:
    """Streams under load, and a query that receives changes of streams only at a restart."""

    def __init__(self, atlas: Atlas, query: Mortal, load: Load) -> None:
        """Create a scenario without streams."""
        self.atlas, self.query, self.load = atlas, query, load
        self.lies: dict[str, Place] = {}
        self.direct = False
        self._written: dict[str, Place] = {}

    def add(self, stream: str, cluster: str) -> Place:
        """Move a stream to a new topic, and produce orders to the topic."""
        topic = self.atlas.topic(cluster)
        self.lies[stream] = self._written[stream] = (cluster, topic)
        self._aim()
        return self.lies[stream]

    def remove(self, stream: str) -> Place:
        """Remove a stream, and stop producing its orders."""
        del self._written[stream]
        self._aim()
        return self.lies.pop(stream)

    def mirror(self, stream: str, cluster: str) -> tuple[Place, dict[int, int]]:
        """Move a stream to a new mirror of its topic, and produce orders to both topics.

        Returns:
            The old topic, and the offset in each of its partitions at which the mirror begins.
        """
        old, topic = self.lies[stream], self.atlas.topic(cluster)
        self.load.aim()
        begins = {
            p: end for p, (_, end) in self.atlas.clusters.topics(old[0]).offsets(old[1]).items()
        }
        self.lies[stream] = self.atlas.mirrors[old] = (cluster, topic)
        self._aim()
        return old, begins

    def publish(self, **cutovers: Any) -> None:
        """Publish the streams with their cutovers."""
        self.atlas.publish(
            {f"orders-{name}": {lies[0]: [lies[1]]} for name, lies in self.lies.items()},
            {name: self.atlas.clusters.reached(name, self.direct) for name in NAMES},
            {f"orders-{name}": cutover for name, cutover in cutovers.items()},
        )

    def begin(self) -> None:
        """Start the first driver, and wait until the driver has read rows of every stream."""
        self.publish()
        self.query.live(slain=True)
        self.query.until("rows", lambda: all(map(self._holds, self.lies.values())))

    def change(self, *steps: Step, then: Callable[[], None] | None = None, **cutovers: Any) -> None:
        """Publish a change, and kill the current driver and the next drivers.

        The current driver does not receive the change.

        Args:
            steps: Steps at which the next drivers are killed.
            then: Function that is called before the next drivers start.
            cutovers: Cutovers by stream.
        """
        self.query.until("a batch", lambda: self.query.checkpoint.committed() > 0)
        known = self._changes()
        self.publish(**cutovers)
        self.query.slay()
        assert self._changes() == known, "the driver received the change"
        if then:
            then()
        self.die(*steps)

    def die(self, *steps: Step) -> None:
        """Kill the next runs, and assert that they received the newest document."""
        for step in steps:
            self.query.die(step(self.query.checkpoint.planned() + 1))
        assert self._last_change()[0]["generation"] == self.atlas.generation, (
            "no run received the change"
        )

    def waits(self, stream: str) -> bool:
        """Return True if the topic of a stream waits for the time of its cutover."""
        waiting = [line for line in self._last_change() if line.get("state") == "waiting"]
        return self.lies[stream] in [(line["cluster"], line["topic"]) for line in waiting]

    def _last_change(self) -> list[dict[str, Any]]:
        """Return the lines of the newest change in the checkpoint."""
        lines = self.query.checkpoint.entries()[self._changes()[-1]].splitlines()[1:]
        return [json.loads(line) for line in lines]

    def goes_on(self, what: str, *left: Place) -> None:
        """Start a driver. Wait until the driver has left some topics and read all other orders."""
        due = self.atlas.produced
        self.query.live(slain=True)
        self.query.until(what, lambda: self.query.rows() >= due and not any(map(self._holds, left)))

    def _holds(self, place: Place) -> bool:
        """Return True if the offset of the newest committed batch has a topic."""
        checkpoint = self.query.checkpoint
        batch = checkpoint.committed()
        return batch >= 0 and place[1] in checkpoint.offset(batch)["clusters"].get(place[0], {})

    def _changes(self) -> list[str]:
        entries = self.query.checkpoint.entries()
        return [key for key in entries if key.startswith("change-")]

    def _aim(self) -> None:
        self.load.aim(*self._written.values())


@pytest.fixture
def world(spark: SparkSession, atlas: Atlas, tmp_path: Path) -> Iterator[World]:
    """Five streams, and a driver that has read rows of each stream."""
    # The query polls the metadata only at its start, so each change is received by a certain
    # driver.
    options: dict[str, str | bool | float] = {
        "discoveryInterval": "1h",
        "cutover": "stream",
        "maxOffsetsPerTrigger": 3000,
    }
    with (
        Mortal(spark, atlas, tmp_path, **options) as query,
        Load(atlas, burst=4, pause=0.1) as load,
    ):
        created = World(atlas, query, load)
        for stream, cluster in _FIRST.items():
            created.add(stream, cluster)
        created.begin()
        yield created
    atlas.clusters.east.heal()


def test_a_driver_dies_at_every_change(world: World) -> None:
    atlas, west, east = world.atlas, world.atlas.clusters.west, world.atlas.clusters.east

    west.change_user()
    world.change(taken, then=west.shut_out_old_users)
    world.goes_on("rows as another user")

    gone = world.remove("gone")
    world.change(ended)
    world.goes_on("the end of a removed topic", gone)

    moved = world.lies["moved"]
    world.add("moved", "north")
    world.change(taken, planned)
    world.goes_on("the end of a topic that its stream has left", moved)

    mapped, begins = world.mirror("mapped", "east")
    ends = {p: begin + _UNREAD for p, begin in begins.items()}
    starts = {p: end - begins[p] for p, end in ends.items()}
    offsets = {mapped: ends, world.lies["mapped"]: starts}
    world.change(taken, read, mapped={"offsets": _by_cluster(offsets)})
    world.goes_on("a cutover at offsets", mapped)

    timed, _ = world.mirror("timed", "west")
    # A document may cause one change per stream.
    world.change(taken, timed={"timestamp": int(time.time() + _HOUR) * 1000})
    while not world.waits("timed"):
        world.die(taken)
    time_of_it = (int(time.time()) + 1) * 1000
    wait_for("the time", lambda: time.time() * 1000 > time_of_it)
    world.publish(timed={"timestamp": time_of_it})
    while world.waits("timed"):
        world.die(taken)
    world.goes_on("a cutover at a time", timed)

    world.direct = True
    world.change(taken, then=east.cut)
    world.goes_on("rows from another address")

    world.load.aim()
    world.query.finish()
    rows = world.query.written()
    atlas.assert_each_once(rows)
    of = {
        place: [row for row in rows if (row["_cluster"], row["topic"]) == place]
        for place in (mapped, world.lies["mapped"], timed, world.lies["timed"])
    }
    assert all(of.values())
    assert all(row["offset"] < ends[row["partition"]] for row in of[mapped])
    assert all(row["offset"] >= starts[row["partition"]] for row in of[world.lies["mapped"]])
    assert all(_millis(row) < time_of_it for row in of[timed])
    assert all(_millis(row) >= time_of_it for row in of[world.lies["timed"]])


def _by_cluster(offsets: dict[Place, dict[int, int]]) -> dict[str, dict[str, dict[str, int]]]:
    return {
        cluster: {topic: {str(p): offset for p, offset in partitions.items()}}
        for (cluster, topic), partitions in offsets.items()
    }


def _millis(row: dict[str, Any]) -> float:
    stamp: datetime = row["timestamp"]
    return stamp.replace(tzinfo=stamp.tzinfo or timezone.utc).timestamp() * 1000
