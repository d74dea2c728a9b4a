# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The topics of one query: one that keeps its orders, and others that are removed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from demo import orders
from kill.relay import Relay
from servers.waiting import wait_for
from soak.kafka_fate import Event, What
from soak.progress import Rows
from soak.topic_log import TopicLog

_BEHIND = 20
"""Seconds for which a broker may list a topic that was deleted."""


class ChangingTopics:
    """Creates, fills and removes the topics of a relay, and logs all that it does.

    Attributes:
        log: What was written and removed.
        produced: When orders came into the topic that keeps them.
        life: The number of the life that runs, or that comes next.
    """

    def __init__(self, relay: Relay, others: Sequence[int], pattern: bool) -> None:
        """Creates the topics beside the relay's own, each with a number of orders."""
        self._relay, self.log, self.life = relay, TopicLog(), 0
        self.produced: list[Rows] = []
        self._others = [f"{relay.topic}.b{number}" for number in range(len(others))]
        names = [relay.topic, *self._others]
        relay.subscription = (
            {"subscribePattern": rf"^{relay.topic}(\.b\d)?$"}
            if pattern
            else {"subscribe": ",".join(names)}
        )
        self._subscribed = () if pattern else tuple(names)
        self.log.created(relay.topic, relay.topics.topic_id(relay.topic), 0)
        for topic, rows in zip(self._others, others, strict=True):
            self._create(topic, rows)

    def produce(self, rows: int) -> None:
        """Adds orders to the topic that keeps them."""
        first = self._relay.produced
        self._relay.produce(rows)
        self._kept(first, None)

    def add_partition(self, rows: int) -> None:
        """Gives the topic that keeps its orders one more partition, with orders in it."""
        first = self._relay.produced
        self._relay.add_partition(rows)
        self._kept(first, self._relay.partitions - 1)

    def remove(self, event: Event) -> None:
        """Deletes or truncates a topic, or begins to recreate it; `restore` ends that."""
        topic = self._topic(event)
        if topic not in self.log.existing:
            return
        if event.what is What.TRUNCATE:
            self._truncate(topic, event.share)
        else:
            self._delete(topic)

    def restore(self, event: Event) -> None:
        """Creates the topic again that an event recreates."""
        topic = self._topic(event)
        if event.what is What.RECREATE and topic not in self.log.existing:
            self._create(topic, event.rows)

    def restore_all(self) -> None:
        """Creates all topics again that do not exist."""
        for topic in self._others:
            if topic not in self.log.existing:
                self._create(topic, 50)

    def unknown(self) -> set[str]:
        """Return the topics that the query names and has no position in."""
        return {topic for topic in self._subscribed if not self._has_position(topic)}

    def assert_stay_deleted(self) -> None:
        """Asserts that no client has created a topic again that was deleted."""
        deleted = set(self._others) - self.log.existing.keys()
        # A broker that is behind lists a deleted topic for a moment.
        try:
            wait_for("no topic", lambda: not deleted & self._relay.topics.names(), _BEHIND)
        except TimeoutError:
            raise AssertionError(f"a client has created one of {sorted(deleted)}") from None

    def drop(self) -> None:
        """Deletes all topics."""
        for topic in (*self.log.existing,):
            self._relay.topics.delete(topic)

    def _topic(self, event: Event) -> str:
        return self._others[event.which % len(self._others)]

    def _create(self, topic: str, rows: int) -> None:
        relay = self._relay
        relay.topics.create(topic, orders.PARTITIONS, orders.KEPT, replicas=3)
        self.log.created(topic, relay.topics.topic_id(topic), self.life)
        first, relay.produced = relay.produced, relay.produced + rows
        relay.topics.produce(topic, orders.records(first, relay.produced))
        self._wrote(topic, first, None)

    def _delete(self, topic: str) -> None:
        self._relay.topics.disconnect()
        self.log.deleted(topic, self.life, self._is_due(topic))
        self._relay.topics.delete(topic)

    def _truncate(self, topic: str, share: float) -> None:
        rows = self.log.existing[topic].rows
        before = {p: int(len(own) * share) for p, own in rows.items() if int(len(own) * share)}
        self.log.truncated(topic, before, self.life, self._is_due(topic))
        if before:
            self._relay.topics.delete_records(topic, before)

    def _kept(self, first: int, partition: int | None) -> None:
        self._wrote(self._relay.topic, first, partition)
        self.produced.append((time.time(), self._relay.produced - first))

    def _wrote(self, topic: str, first: int, partition: int | None) -> None:
        numbers = range(first, self._relay.produced)
        own = ((orders.record(n).partition if partition is None else partition, n) for n in numbers)
        self.log.wrote(topic, own)

    def _is_due(self, topic: str) -> bool:
        """Whether the query knows this very topic, and has a position in a topic of its name."""
        known = self._relay.checkpoint.entries()
        topic_id = self.log.existing[topic].topic_id
        return self._has_position(topic) and any(
            topic_id in text
            for name, text in known.items()
            if Path(name).name.startswith(("identity-", "generation-"))
        )

    def _has_position(self, topic: str) -> bool:
        checkpoint = self._relay.checkpoint
        planned = checkpoint.planned()
        return planned >= 0 and topic in checkpoint.offset(planned)
