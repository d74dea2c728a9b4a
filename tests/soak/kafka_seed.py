# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a topic on three brokers behind bad networks: plain Kafka, killed as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from kill.life import Life
from kill.relay import OURS, Relay
from servers.kafka_brokers import KafkaBrokers
from servers.kafka_producer import Record
from servers.kafka_topics import KafkaTopics
from soak.bad_world import befall
from soak.kafka_fate import Event, LifeFate, What, fate
from soak.patience import CLIENT, PATIENCE, wait_for_rows
from soak.story import Story


def run_seed(seed: int, topic: str, brokers: KafkaBrokers, story: Story) -> None:
    """Runs one seed.

    Raises:
        AssertionError: if a row is missing or doubled, a life failed, a run over all that is there
            ended too early, or the group was told of what the checkpoint does not hold.
    """
    destiny = fate(seed)
    try:
        relay = Relay(brokers.topics, topic, story.folder, brokers.proxied_servers, replicas=3)
        relay.given(sink=destiny.sink)
        own = {"startingOffsets": "earliest", "kafka.group.id": topic}
        if destiny.transactions:
            relay.write = _in_transactions(relay.topics)
            own["kafka.isolation.level"] = "read_committed"
        relay.produce(destiny.rows)
        for life in destiny.lives:
            relay.given(options={**CLIENT, **own, **life.options})
            _Seed(relay, brokers, story).live(life)
        relay.given(options={**CLIENT, **own, **destiny.last})
        relay.given(master="local[2]", trigger=None)
        relay.finish(OURS)
        relay.assert_each_once()
        _assert_group_is_not_ahead(relay)
    finally:
        brokers.topics.delete(topic)


class _Seed:
    def __init__(self, relay: Relay, brokers: KafkaBrokers, story: Story) -> None:
        self._relay, self._brokers, self._story = relay, brokers, story

    def live(self, given: LifeFate) -> None:
        relay = self._relay
        trigger = {"processingTime": "0 seconds"} if given.goes_on else {"availableNow": True}
        relay.given(master=f"local[{given.cores}]", trigger=trigger)
        if given.more:
            relay.produce(given.more)
        if given.partition:
            relay.add_partition(given.partition)
        there = relay.produced
        life = relay.start(OURS, *([given.kill] if given.kill else []))
        try:
            # Whether or not it lives on, the topic gets what the rest of the events bring.
            slain = sum(self._happens(event, life) for event in given.events)
            if given.goes_on:
                (life.folder / "stop").touch()
            life.process.wait(PATIENCE)
        finally:
            life.process.kill()
            self._brokers.start_all()
        if not slain and self._story.ends(life):
            verdict = relay.verdict()
            assert verdict.rows >= there, f"it ended after {verdict} of {there}"
        assert relay.verdict().duplicated == 0, str(relay.verdict())
        _assert_group_is_not_ahead(relay)

    def _happens(self, event: Event, life: Life) -> bool:
        """Lets an event happen, and says whether it was the driver's death."""
        wait_for_rows(life, event.after)
        if not event.what.is_fault:
            return self._changes(event)
        if life.process.exit_code is not None:
            return False
        self._story.faults.append(str(event))
        with befall(event, self._brokers):
            with suppress(TimeoutError):
                life.process.wait(event.seconds)
            if event.deadly and life.process.exit_code is None:
                life.process.kill()
                self._story.kills.append(f"SIGKILL while {event.what.value}")
                return True
        return False

    def _changes(self, event: Event) -> bool:
        self._story.faults.append(str(event))
        if event.what is What.PARTITION:
            self._relay.add_partition(event.rows)
        else:
            self._relay.produce(event.rows)
        return False


def _in_transactions(topics: KafkaTopics) -> Callable[[str, Iterable[Record]], int]:
    def write(topic: str, records: Iterable[Record]) -> int:
        all_of_them = list(records)
        with topics.producer(topic) as producer:
            producer.begin()
            producer.send_all(topic, all_of_them)
            producer.abort()
            producer.begin()
            written = producer.send_all(topic, all_of_them)
            producer.commit()
        return written

    return write


def _assert_group_is_not_ahead(relay: Relay) -> None:
    held = relay.committed()
    told = relay.topics.committed(relay.topic, relay.topic)
    ahead = {p: offset for p, offset in told.items() if offset > held.get(p, 0)}
    assert not ahead, f"the group was told {ahead}, the checkpoint holds {held}"
