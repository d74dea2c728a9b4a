# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a topic that a query copies in real-time mode and with other triggers."""

from __future__ import annotations

from contextlib import suppress

from kill.copies import Copies
from kill.life import Life
from kill.relay import Relay
from servers.kafka.brokers import KafkaBrokers
from soak.failure import assert_no_loss
from soak.kafka.bad_world import befall
from soak.kafka.fate import Event, What
from soak.patience import CLIENT, wait_for_rows
from soak.realtime.fate import LiveFate, fate
from soak.story import Story


def run_seed(seed: int, topic: str, brokers: KafkaBrokers, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a row has no copy, or more copies than runs that read the row, or if a
            run without a fault failed.
    """
    destiny = fate(seed)
    relay = Relay(brokers.topics, topic, story.folder, brokers.proxied_servers, replicas=3)
    copies = Copies(relay, replicas=3)
    run = _Seed(copies, brokers, story, destiny.is_continuous)
    try:
        copies.relay.produce(destiny.rows)
        for life in destiny.lives:
            run.live(life)
        copies.relay.given(master="local[2]", options=CLIENT)
        copies.finish(destiny.trigger, **destiny.last)
        copies.assert_complete()
        run.judge()
    finally:
        brokers.topics.delete(topic)
        brokers.topics.delete(copies.sink)


class _Seed:
    def __init__(
        self, copies: Copies, brokers: KafkaBrokers, story: Story, is_continuous: bool
    ) -> None:
        self._copies, self._brokers, self._story = copies, brokers, story
        self._is_continuous = is_continuous

    def judge(self) -> None:
        # Continuous mode also reads rows again after a new planning of its tasks.
        if not self._is_continuous:
            self._copies.assert_only_running_batches_again()

    def live(self, given: LiveFate) -> None:
        copies = self._copies
        copies.relay.produce(given.more)
        # Each slot needs a core, because a batch in real-time mode waits for all slots.
        cores = max(given.cores, int(given.options.get("slots", "1")))
        copies.relay.given(master=f"local[{cores}]", options=CLIENT)
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
            self._brokers.start_all()
        copies.ended()
        if life.acted or slain:
            at = (life.acted or "SIGKILL").removeprefix("acts: ")
            self._story.kills.append(at.replace(str(self._story.folder), ""))
        else:
            faults = [event for event in given.events if event.what.is_fault]
            assert code == 0 or faults, life.process.tail(80)
            assert_no_loss(life.process.log.read_text(errors="replace"))
        self.judge()

    def _happens(self, event: Event, life: Life) -> str | None:
        """Cause an event, and return the kill of the driver during the event, or None."""
        wait_for_rows(life, event.after)
        if life.process.exit_code is not None:
            return None
        self._story.faults.append(str(event))
        if event.what is What.PARTITION:
            self._copies.relay.add_partition(event.rows)
        elif event.what is What.PRODUCE:
            self._copies.relay.produce(event.rows)
        else:
            with befall(event, self._brokers):
                with suppress(TimeoutError):
                    life.process.wait(event.seconds)
                if event.deadly and life.process.exit_code is None:
                    life.process.kill()
                    return f"SIGKILL while {event.what.value}"
        return None
