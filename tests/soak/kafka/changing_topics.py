# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Topics of a query: one topic keeps its orders, and other topics are removed during the run."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from demo import orders
from kill.relay import Relay
from servers.waiting import wait_for
from soak.kafka.fate import Event, What
from soak.kafka.topic_log import TopicLog
from soak.progress import Rows

_BEHIND = 20
"""Maximum seconds for which a broker lists a deleted topic."""


class ChangingTopics:
    """Topics of a relay, with a log of all written and removed orders.

    Attributes:
        log: Log of written and removed orders.
        produced: Times and numbers of orders in the topic that keeps its orders.
        life: Number of the current or next run of the driver.
    """

    def __init__(self, relay: Relay, others: Sequence[int], pattern: bool) -> None:
        """Create the additional topics, each with a number of orders."""
        self._relay, self.log, self.life = relay, TopicLog(), 0
        self.produced: list[Rows] = []
        self._firsts: list[tuple[int, float]] = []
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
        """Add orders to the topic that keeps its orders."""
        first = self._relay.produced
        self._relay.produce(rows)
        self._kept(first, None)

    def add_partition(self, rows: int) -> None:
        """Add a partition with orders to the topic that keeps its orders."""
        first = self._relay.produced
        self._relay.add_partition(rows)
        self._kept(first, self._relay.partitions - 1)

    def time_of(self, number: int) -> float:
        """Return the time at which an order of the topic that keeps its orders was produced."""
        return self._firsts[bisect_right(self._firsts, (number, float("inf"))) - 1][1]

    def remove(self, event: Event) -> None:
        """Delete or truncate a topic, or begin to recreate a topic, which `restore` completes."""
        topic = self._topic(event)
        if topic not in self.log.existing:
            return
        if event.what is What.TRUNCATE:
            self._truncate(topic, event.share)
        else:
            self._delete(topic)

    def restore(self, event: Event) -> None:
        """Create the topic of an event that recreates a topic."""
        topic = self._topic(event)
        if event.what is What.RECREATE and topic not in self.log.existing:
            self._create(topic, event.rows)

    def restore_all(self) -> None:
        """Create all missing topics again."""
        for topic in self._others:
            if topic not in self.log.existing:
                self._create(topic, 50)

    def unknown(self) -> set[str]:
        """Return the topics that the query subscribes to, and in which it has no position."""
        return {topic for topic in self._subscribed if not self._has_position(topic)}

    def assert_stay_deleted(self) -> None:
        """Assert that no client has created a deleted topic again."""
        deleted = set(self._others) - self.log.existing.keys()
        # An outdated broker lists a deleted topic for a short time.
        try:
            wait_for("no topic", lambda: not deleted & self._relay.topics.names(), _BEHIND)
        except TimeoutError:
            raise AssertionError(f"a client has created one of {sorted(deleted)}") from None

    def drop(self) -> None:
        """Delete all topics."""
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
        before = {
            p: int(len(numbers) * share) for p, numbers in rows.items() if int(len(numbers) * share)
        }
        self.log.truncated(topic, before, self.life, self._is_due(topic))
        if before:
            self._relay.topics.delete_records(topic, before)

    def _kept(self, first: int, partition: int | None) -> None:
        self._wrote(self._relay.topic, first, partition)
        self.produced.append((time.time(), self._relay.produced - first))
        self._firsts.append((first, self.produced[-1][0]))

    def _wrote(self, topic: str, first: int, partition: int | None) -> None:
        numbers = range(first, self._relay.produced)
        pairs = (
            (orders.record(n).partition if partition is None else partition, n) for n in numbers
        )
        self.log.wrote(topic, pairs)

    def _is_due(self, topic: str) -> bool:
        """Return True if the query has detected this topic, and has a position in its name."""
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
