# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over changing streams on three clusters, with kills of the driver."""

from __future__ import annotations

import itertools
from contextlib import nullcontext, suppress
from pathlib import Path

from demo.judge import Verdict, judge_output, read_orders
from kill import killing
from kill.killing import Kill
from kill.life import Life
from kill.query import SELECT
from servers.clusters import NAMES, Clusters
from servers.waiting import wait_for
from soak.dynamic import applied
from soak.dynamic.fate import DynamicFate, Event, LifeFate, What, fate
from soak.dynamic.flow import Flow
from soak.dynamic.happenings import Happenings
from soak.dynamic.places import Place, Places
from soak.patience import CLIENT, PATIENCE, has_read, wait_for_rows
from soak.story import Story


def run_seed(seed: int, topic: str, clusters: Clusters, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a row is missing or duplicated, a run failed, or a run of AvailableNow
            ended too early.
    """
    destiny = fate(seed)
    places = Places(clusters, topic, story.folder)
    try:
        for number in range(destiny.topics):
            place = places.add(NAMES[(seed + number) % len(NAMES)])
            places.produce(place, destiny.rows)
        places.publish()
        run = _Seed(destiny, places, topic, story)
        for life in destiny.lives:
            run.live(life)
        run.finish()
    finally:
        places.delete()


class _Seed:
    def __init__(self, destiny: DynamicFate, places: Places, group: str, story: Story) -> None:
        self._destiny, self._places, self._story = destiny, places, story
        self._group, self._lives = group, itertools.count()
        self._happenings = Happenings(places)

    def live(self, given: LifeFate) -> None:
        for event in given.before:
            self._story.faults.append(str(event))
            with self._happenings.happening(event):
                pass
        due = [(place, place.rows) for place in self._places.there]
        read = self._read()
        trigger: dict[str, object] = (
            {"processingTime": "0 seconds"} if given.goes_on else {"availableNow": True}
        )
        life = self._start(given.options, trigger, given.cores, given.kill)
        try:
            with Flow(self._places) if given.flows else nullcontext():
                slain = sum(self._meets(event, life, due) for event in given.events)
            owed = {number for place, rows in due for number in place.numbers[:rows]}
            if given.goes_on:
                # A stopped query does not wait for a cluster that has just started again.
                wait_for(f"{len(owed)} rows", lambda: has_read(life, owed - read), PATIENCE)
                (life.folder / "stop").touch()
            life.process.wait(PATIENCE)
        finally:
            life.process.kill()
        if not slain and self._story.ends(life):
            missing = owed - self._read()
            assert not missing, f"the run ended without {len(missing)} of {len(owed)} rows"
        assert self._verdict().duplicated == 0, str(self._verdict())

    def finish(self) -> None:
        """Check the drains, then add all topics again and check all rows.

        A topic that is added again is read from its position, which hides lost rows of its drain.
        So the drains are checked first, after their end.
        """
        self._read_all()
        self._judge_drains()
        for place in self._places.gone:
            place.there = True
        self._places.publish()
        self._read_all()
        assert str(self._verdict()) == f"rows {self._places.produced} missing 0 duplicated 0"

    def _read_all(self) -> None:
        life = self._start(self._destiny.last, {"availableNow": True}, 2, None)
        try:
            life.process.wait(PATIENCE)
        finally:
            life.process.kill()
        assert self._story.ends(life)

    def _judge_drains(self) -> None:
        places = self._places
        log = applied.changes(self._story.folder / "checkpoint")
        assert not log[-1].draining, f"not drained: {sorted(log[-1].draining)}"
        unseen = places.unseen(log)
        if unseen:
            self._story.faults.append(f"rows that no applied document has: {len(unseen)}")
        verdict = self._verdict()
        assert verdict.duplicated == 0, str(verdict)
        lost = set(range(places.produced)) - self._read() - unseen
        assert not lost, f"{verdict}, and {len(lost)} rows are lost, the first rows {_first(lost)}"

    def _meets(self, event: Event, life: Life, due: list[tuple[Place, int]]) -> bool:
        """Cause an event, and return True if the driver was killed with the event.

        Args:
            event: The event.
            life: The run of the driver.
            due: Topics with the rows that the run must read. Topics whose document the driver may
                not have received are removed.
        """
        wait_for_rows(life, event.after)
        unseen = not life.rows
        if event.what.is_fault and unseen and not self._verdict().rows:
            # A cluster that has never responded is an error, not an outage.
            return False
        self._story.faults.append(str(event))
        with self._happenings.happening(event):
            if unseen:
                due[:] = [(place, rows) for place, rows in due if place.there]
                if event.what in (What.OLD_METADATA, What.NO_METADATA):
                    # Without a valid document, the driver reads the topics of the last change.
                    known = applied.changes(self._story.folder / "checkpoint")[-1].topics
                    due[:] = [
                        (place, rows)
                        for place, rows in due
                        if (place.cluster, place.topic) in known
                    ]
            if event.what.is_fault:
                with suppress(TimeoutError):
                    life.process.wait(event.seconds)
            if event.deadly and life.process.exit_code is None:
                life.process.kill()
                self._story.kills.append(f"SIGKILL when {event.what.value}")
                return True
        return False

    def _start(
        self, options: dict[str, str], trigger: dict[str, object], cores: int, kill: Kill | None
    ) -> Life:
        # A repeated batch may have been planned when old users were valid.
        self._places.clusters.west.shut_out_old_users()
        folder = self._story.folder
        query = {
            "format": "splice-dynamic-kafka",
            "options": {
                **self._places.options(self._group),
                **CLIENT,
                **killing.OPTIONS,
                **options,
            },
            "select": SELECT,
            "checkpoint": f"{killing.SCHEME}://{folder / 'checkpoint'}",
            "output": f"{killing.SCHEME}://{folder / 'output'}",
            "sink": self._destiny.sink,
            "sink_options": {},
            "trigger": trigger,
        }
        path = folder / f"life-{next(self._lives)}"
        return Life.begin(path, [query], [kill] if kill else [], f"local[{cores}]")

    def _verdict(self) -> Verdict:
        return judge_output(self._output, self._destiny.sink, self._places.produced)

    def _read(self) -> set[int]:
        """Return the orders in the sink."""
        return read_orders(self._output, self._destiny.sink)

    @property
    def _output(self) -> Path:
        return self._story.folder / "output"


def _first(numbers: set[int]) -> list[int]:
    return sorted(numbers)[:10]
