# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a source that a query copies in real-time mode and with other triggers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kill.life import Life
from servers.clusters import Clusters
from soak.failure import assert_no_loss, failure
from soak.kafka.fate import What
from soak.patience import CLIENT, wait_for_rows
from soak.realtime.fate import LiveFate, fate
from soak.realtime.worlds import World, make
from soak.story import Story


def run_seed(seed: int, topic: str, clusters: Clusters, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a row has no copy, or more copies than runs that read the row, or if a
            run without a fault failed. Also if no warning names a deleted topic with unread rows.
    """
    destiny = fate(seed)
    world = make(seed, destiny, clusters, topic, story.folder)
    run = _Seed(world, story, destiny.is_continuous)
    try:
        for life in destiny.lives:
            run.live(life)
        world.copies.relay.given(master="local[2]", options={**CLIENT, **world.options})
        world.finish(destiny.trigger, destiny.last)
        run.judge()
    finally:
        world.drop()
        clusters.east.topics.delete(world.copies.sink)


class _Seed:
    def __init__(self, world: World, story: Story, is_continuous: bool) -> None:
        self._world, self._story, self._is_continuous = world, story, is_continuous

    def judge(self) -> None:
        # Continuous mode also reads rows again after a new planning of its tasks.
        if not self._is_continuous:
            self._world.copies.assert_only_running_batches_again()

    def live(self, given: LiveFate) -> None:
        world, copies = self._world, self._world.copies
        world.produce(given.more)
        # Each slot needs a core, because a batch in real-time mode waits for all slots.
        cores = max(given.cores, int(given.options.get("slots", "1")))
        copies.relay.given(master=f"local[{cores}]", options={**CLIENT, **world.options})
        kills = [given.kill] if given.kill else []
        life = copies.start(given.trigger, *kills, **given.options)
        try:
            befallen = [self._happens(event, life) for event in given.events]
            with suppress(TimeoutError):
                life.process.wait(given.seconds)
            code = life.process.exit_code
            slain = code is None or "SIGKILL" in "".join(filter(None, befallen))
        finally:
            life.process.kill()
            world.ends()
        if life.acted or slain:
            at = (life.acted or "SIGKILL").removeprefix("acts: ")
            self._story.kills.append(at.replace(str(self._story.folder), ""))
        else:
            self._assert_explained(life, given)
        self.judge()

    def _assert_explained(self, life: Life, given: LiveFate) -> None:
        """Assert that a driver without a kill did not fail, or that an event explains its error."""
        faults = [event for event in given.events if event.what.is_fault]
        log = life.process.log.read_text(errors="replace")
        if life.process.exit_code != 0 and not faults:
            error = failure(log, self._world.copies.relay.topic)
            assert error in self._world.errors(), f"{error}:\n{life.process.tail(80)}"
        assert_no_loss(log)

    def _happens(self, event: Any, life: Life) -> str | None:
        """Cause an event, and return the kill of the driver during the event, or None."""
        wait_for_rows(life, event.after)
        if life.process.exit_code is not None:
            return None
        self._story.faults.append(str(event))
        with self._world.happening(event):
            with suppress(TimeoutError):
                life.process.wait(_seconds(event))
            if event.deadly and life.process.exit_code is None:
                life.process.kill()
                return f"SIGKILL while {event.what.value}"
        return None


def _seconds(event: Any) -> float:
    """Return the duration of an event."""
    if event.what == What.RECREATE:
        return float(event.gap)
    return float(event.seconds) if event.what.is_fault else 0.0
