# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over changing topics on three brokers, with faults of networks and kills."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from kill.killing import Kill
from kill.life import Life
from kill.query import OURS
from kill.relay import Relay
from servers.kafka.brokers import KafkaBrokers
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from soak.failure import failure
from soak.kafka import output as kafka_output
from soak.kafka.alignment import Batch, passed
from soak.kafka.bad_world import befall
from soak.kafka.changing_topics import ChangingTopics
from soak.kafka.fate import Event, KafkaFate, LifeFate, What, fate
from soak.kafka.policies import PERMISSIVE, Policies
from soak.patience import CLIENT, PATIENCE, wait_for_rows
from soak.progress import Span, stalls
from soak.starvation import Starvation
from soak.story import Story

BROKERS = {
    "auto.create.topics.enable": "true",
    # A topic that a client creates must not prevent replicas from being in sync again.
    "default.replication.factor": "3",
    # A broker that starts on an overloaded machine must not stop after one minute.
    "initial.broker.registration.timeout.ms": "600000",
}
"""Settings of the brokers. The first setting is Kafka's default, so clients create topics."""

_FORMATS: tuple[dict[str, str], ...] = (
    {},
    {"message.format.version": "0.10.0"},
    {"message.format.version": "0.9.0"},
)
"""Settings of topics of old brokers. The second and the third have the two old message formats."""

_REMEDIES = 3
"""Maximum number of errors of one run and of the runs with their remedies."""


def run_seed(seed: int, topic: str, brokers: KafkaBrokers, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a row is missing without a removal, or a row is duplicated. Also if a
            run failed for another reason than its policies, or a run of AvailableNow ended too
            early. Also if a healthy topic had to wait, a client created a topic, or the offsets of
            the group are ahead of the checkpoint.
    """
    destiny = fate(seed)
    there = brokers.topics
    if brokers.old and not destiny.transactions:
        there.defaults = _FORMATS[seed % len(_FORMATS)]
    relay = Relay(there, topic, story.folder, brokers.proxied_servers, replicas=3)
    relay.given(sink=destiny.sink)
    topics = ChangingTopics(relay, destiny.others, destiny.pattern)
    run = _Seed(destiny, relay, topics, brokers, story)
    try:
        with run.starvation:
            topics.produce(destiny.rows)
            for number, life in enumerate(destiny.lives):
                topics.life = number
                run.live(life)
            topics.life = len(destiny.lives)
            run.finish()
    finally:
        starved = sum(end - begin for begin, end in run.starvation.spans)
        if starved:
            story.faults.append(f"the machine was overloaded for {starved:.0f} s")
        topics.drop()


class _Seed:
    def __init__(
        self,
        destiny: KafkaFate,
        relay: Relay,
        topics: ChangingTopics,
        brokers: KafkaBrokers,
        story: Story,
    ) -> None:
        self._relay, self._topics, self._brokers, self._story = relay, topics, brokers, story
        self.starvation = Starvation()
        self._last = destiny.last
        self._own = {"startingOffsets": "earliest", "kafka.group.id": relay.topic}
        self._alive: list[Span] = []
        self._faults: list[Span] = []
        if destiny.transactions:
            relay.write = _in_transactions(relay.topics)
            self._own["kafka.isolation.level"] = "read_committed"

    def live(self, given: LifeFate) -> None:
        for event in self._possible(given.before):
            self._removes(event, None)
        if given.more:
            self._topics.produce(given.more)
        if given.partition:
            self._topics.add_partition(given.partition)
        self._relay.given(
            master=f"local[{given.cores}]",
            trigger={"processingTime": "0 seconds"} if given.goes_on else {"availableNow": True},
        )
        there = self._topics.log.counts()
        with self._runs(given.options, given.policies, given.kill) as life:
            # The topics receive the orders of the remaining events, also if the driver has ended.
            slain = sum(self._happens(event, life) for event in self._possible(given.events))
            if given.goes_on:
                (life.folder / "stop").touch()
            life.process.wait(PATIENCE)
        self._judge(life, given.options, given.policies, there, bool(slain))

    def _possible(self, events: Iterable[Event]) -> list[Event]:
        # Brokers before 3.1 do not support fetches by id, so a recreated topic is not detected.
        old = self._brokers.old
        return [event for event in events if not old or event.what is not What.RECREATE]

    def finish(self) -> None:
        """Run the query until the query has read all rows, with policies that permit every loss."""
        self._relay.given(master="local[2]", trigger=None)
        self._read_all(self._last, PERMISSIVE, _REMEDIES)
        _assert_group_is_not_ahead(self._relay)

    def _read_all(self, options: dict[str, str], policies: Policies, remedies: int) -> None:
        there = self._topics.log.counts()
        with self._runs(options, policies, None) as life:
            life.process.wait(PATIENCE)
        self._judge(life, options, policies, there, False, remedies)

    @contextmanager
    def _runs(
        self, options: dict[str, str], policies: Policies, kill: Kill | None
    ) -> Iterator[Life]:
        relay = self._relay
        relay.given(options={**CLIENT, **self._own, **options, **policies.options})
        life = relay.start(OURS, *([kill] if kill else []))
        # The first driver on a machine starts after the creation of an archive of its classes.
        began = time.time()
        try:
            yield life
        finally:
            life.process.kill()
            self._alive.append((began, time.time()))
            self._brokers.start_all()

    def _judge(
        self,
        life: Life,
        options: dict[str, str],
        policies: Policies,
        there: dict[str, int],
        slain: bool,
        remedies: int = _REMEDIES,
    ) -> None:
        relay, topics = self._relay, self._topics
        log = topics.log
        log.ran(policies)
        output = kafka_output.read(relay.folder / "output", relay.setting.sink)
        kafka_output.assert_exact(output, log)
        topics.assert_stay_deleted()
        _assert_group_is_not_ahead(relay)
        kept = log.existing[relay.topic].numbers
        excluded = [*self._faults, *self.starvation.spans]
        waited = stalls(topics.produced, output.progress(kept), self._alive, excluded)
        assert not waited, f"{relay.topic} had to wait: {waited}"
        if options["admission"] == "eventTime":
            began, ended = self._alive[-1]
            batches = [
                Batch(at, [number for number in numbers if number in kept])
                for at, numbers in output.batches
                if began < at < ended
            ]
            older = passed(batches, topics.time_of)
            assert older is None, f"a batch by time has passed order {older}"
        failed = life.process.exit_code != 0 and not slain and not life.acted
        if slain:
            return
        if not failed:
            if self._story.ends(life):
                kafka_output.assert_complete(output, log, there)
                log.ended(topics.life)
            return
        error = failure(life.process.log.read_text(errors="replace"), relay.topic)
        allowed = log.errors(policies, topics.unknown())
        assert error in allowed, f"{error}, allowed {allowed} by {policies.options}"
        assert remedies, f"{error} despite the remedies of the previous errors"
        self._story.faults.append(f"fails with {error}")
        if error == "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND":
            topics.restore_all()
        relay.given(trigger={"availableNow": True})
        self._read_all(options, policies.remedied(error), remedies - 1)

    def _happens(self, event: Event, life: Life) -> bool:
        """Cause an event, and return True if the driver was killed during the event."""
        wait_for_rows(life, event.after)
        if event.what.is_removal:
            return self._removes(event, life)
        if not event.what.is_fault:
            return self._adds(event)
        if life.process.exit_code is not None:
            return False
        self._story.faults.append(str(event))
        began = time.time()
        with befall(event, self._brokers):
            slain = self._during(event, life, event.seconds)
        self._faults.append((began, time.time()))
        return slain

    def _removes(self, event: Event, life: Life | None) -> bool:
        self._story.faults.append(str(event))
        self._topics.remove(event)
        gap = event.gap if event.what is What.RECREATE else 0.0
        slain = life is not None and self._during(event, life, gap)
        self._topics.assert_stay_deleted()
        self._topics.restore(event)
        return slain

    def _during(self, event: Event, life: Life, seconds: float) -> bool:
        """Wait, and return True if the driver was killed."""
        if seconds:
            with suppress(TimeoutError):
                life.process.wait(seconds)
        if event.deadly and life.process.exit_code is None:
            life.process.kill()
            self._story.kills.append(f"SIGKILL while {event.what.value}")
            return True
        return False

    def _adds(self, event: Event) -> bool:
        self._story.faults.append(str(event))
        if event.what is What.PARTITION:
            self._topics.add_partition(event.rows)
        else:
            self._topics.produce(event.rows)
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
    committed = relay.topics.committed(relay.topic, relay.topic)
    ahead = {p: offset for p, offset in committed.items() if offset > held.get(p, 0)}
    assert not ahead, f"the group has {ahead}, and the checkpoint has {held}"
