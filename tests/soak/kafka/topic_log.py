# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Expected rows of a query over topics that are deleted, recreated and truncated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from soak.kafka.policies import Loss, Policies


@dataclass
class Incarnation:
    """Topic from its creation to its deletion.

    Attributes:
        topic: Name of the topic.
        topic_id: Unique id of the topic.
        rows: Orders of each partition. The index of an order is its offset.
        removed: Orders that were removed from the topic.
    """

    topic: str
    topic_id: str
    rows: dict[int, list[int]] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)

    @property
    def numbers(self) -> set[int]:
        """Return all written orders."""
        return {number for partition in self.rows.values() for number in partition}


@dataclass
class Removal:
    """Removal of orders from a topic.

    Attributes:
        topic: Name of the topic.
        rows: Removed orders, including orders that were read.
        loss: Reason of the removal.
        life: Number of the run during or before which the orders were removed.
        due: True if the query had a position in the topic, so that it must read the orders.
        accepted: True if a run with policies that permit the loss has followed.
        settled: True if a later run has read all available orders.
    """

    topic: str
    rows: frozenset[int]
    loss: Loss
    life: int
    due: bool
    accepted: bool = False
    settled: bool = False


class TopicLog:
    """Log of produced orders, and of removals from topics."""

    def __init__(self) -> None:
        """Create a log without topics."""
        self.all: list[Incarnation] = []
        self.existing: dict[str, Incarnation] = {}
        self.removals: list[Removal] = []

    def created(self, topic: str, topic_id: str, life: int) -> None:
        """Log the creation of a topic. Earlier deletions of the same name become recreations."""
        self.existing[topic] = Incarnation(topic, topic_id)
        self.all.append(self.existing[topic])
        for removal in self.removals:
            if removal.topic == topic and removal.loss is Loss.DELETED:
                removal.loss, removal.life, removal.settled = Loss.RECREATED, life, False

    def wrote(self, topic: str, orders: Iterable[tuple[int, int]]) -> None:
        """Log orders, as partitions and numbers, in the order of their production."""
        for partition, number in orders:
            self.existing[topic].rows.setdefault(partition, []).append(number)

    def truncated(self, topic: str, before: Mapping[int, int], life: int, due: bool) -> None:
        """Log the deletion of records before an offset, per partition."""
        incarnation = self.existing[topic]
        gone = {n for p, offset in before.items() for n in incarnation.rows.get(p, [])[:offset]}
        rows = frozenset(gone - incarnation.removed)
        incarnation.removed |= rows
        self.removals.append(Removal(topic, rows, Loss.TRUNCATED, life, due))

    def deleted(self, topic: str, life: int, due: bool) -> None:
        """Log the deletion of a topic."""
        incarnation = self.existing.pop(topic)
        rows = frozenset(incarnation.numbers - incarnation.removed)
        incarnation.removed |= rows
        self.removals.append(Removal(topic, rows, Loss.DELETED, life, due))

    def ran(self, policies: Policies) -> None:
        """Log a run with policies, which may have accepted losses."""
        for removal in self.removals:
            removal.accepted |= any(policies.permit(loss) for loss in _reasons(removal))

    def ended(self, life: int) -> None:
        """Log that a run has read all available orders."""
        for removal in self.removals:
            removal.settled |= removal.life < life

    def errors(self, policies: Policies, missing: Collection[str]) -> set[str]:
        """Return the errors with which a run may fail.

        Args:
            policies: Policies of the run.
            missing: Topics that the query subscribes to by name, and in which it has no position.
        """
        # A topic that exists now may have been missing at the start of the run.
        lacked = {r.topic for r in self.removals if r.loss is not Loss.TRUNCATED and not r.settled}
        lacking = set(missing) & (lacked | (set(missing) - self.existing.keys()))
        found = {"SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"} if lacking else set()
        for removal in self.removals:
            if removal.settled and not _is_missing(removal, self.existing):
                continue
            for loss in _reasons(removal):
                if not policies.permit(loss):
                    condition = "TOPIC_RECREATED" if loss is Loss.RECREATED else "DATA_LOSS"
                    found.add(f"SPLICE_KAFKA_DATA.{condition}")
        return found

    def lost(self, read: Collection[int], before: Mapping[str, int]) -> set[int]:
        """Return the unread orders that a run must have read, or must have failed for.

        Args:
            read: Orders in the sink.
            before: Number of orders in each topic (by id) at the start of the run.
        """
        wanted = {
            number
            for one in self.all
            for number in sorted(one.numbers)[: before.get(one.topic_id, 0)]
        }
        return wanted.difference(read, self.excused())

    def excused(self) -> set[int]:
        """Return the orders that may be missing because a policy permitted their removal."""
        all_of_them = (r.rows for r in self.removals if r.accepted or not r.due)
        return {number for rows in all_of_them for number in rows}

    def counts(self) -> dict[str, int]:
        """Return the number of written orders of each topic, by id."""
        return {one.topic_id: len(one.numbers) for one in self.all}


def _reasons(removal: Removal) -> tuple[Loss, ...]:
    """Return the possible reasons. A recreated topic may have been detected as deleted before."""
    recreated = removal.loss is Loss.RECREATED
    return (Loss.DELETED, Loss.RECREATED) if recreated else (removal.loss,)


def _is_missing(removal: Removal, existing: Collection[str]) -> bool:
    return removal.loss is Loss.DELETED and removal.topic not in existing
