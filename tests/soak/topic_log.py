# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Orders of topics that are deleted, recreated and truncated: the expected rows of a query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from soak.policies import Loss, Policies


@dataclass
class Incarnation:
    """A topic from its creation to its deletion.

    Attributes:
        topic: The name.
        topic_id: The id, which no other topic has.
        rows: The orders of each partition; the index of an order is its offset.
        removed: The orders that are in the topic no longer.
    """

    topic: str
    topic_id: str
    rows: dict[int, list[int]] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)

    @property
    def numbers(self) -> set[int]:
        """All orders that were written."""
        return {number for own in self.rows.values() for number in own}


@dataclass
class Removal:
    """Orders that were removed from a topic.

    Attributes:
        topic: The name of the topic.
        rows: The orders, whether or not they were read.
        loss: The reason.
        life: The number of the life in which it happened, or before which.
        due: Whether the query had a position in that topic, so that it must read the orders.
        accepted: Whether a life with policies that permit the loss has run since.
        settled: Whether a later life has read everything that it could.
    """

    topic: str
    rows: frozenset[int]
    loss: Loss
    life: int
    due: bool
    accepted: bool = False
    settled: bool = False


class TopicLog:
    """A log of the producer, and of what was removed from topics."""

    def __init__(self) -> None:
        """Begins without topics."""
        self.all: list[Incarnation] = []
        self.existing: dict[str, Incarnation] = {}
        self.removals: list[Removal] = []

    def created(self, topic: str, topic_id: str, life: int) -> None:
        """Logs that a topic was created. Deletions of a topic of that name are recreations now."""
        self.existing[topic] = Incarnation(topic, topic_id)
        self.all.append(self.existing[topic])
        for removal in self.removals:
            if removal.topic == topic and removal.loss is Loss.DELETED:
                removal.loss, removal.life, removal.settled = Loss.RECREATED, life, False

    def wrote(self, topic: str, orders: Iterable[tuple[int, int]]) -> None:
        """Logs orders, as partitions and numbers, in the order in which they were written."""
        for partition, number in orders:
            self.existing[topic].rows.setdefault(partition, []).append(number)

    def truncated(self, topic: str, before: Mapping[int, int], life: int, due: bool) -> None:
        """Logs that the records of partitions before an offset were deleted."""
        own = self.existing[topic]
        gone = {n for p, offset in before.items() for n in own.rows.get(p, [])[:offset]}
        rows = frozenset(gone - own.removed)
        own.removed |= rows
        self.removals.append(Removal(topic, rows, Loss.TRUNCATED, life, due))

    def deleted(self, topic: str, life: int, due: bool) -> None:
        """Logs that a topic was deleted."""
        own = self.existing.pop(topic)
        rows = frozenset(own.numbers - own.removed)
        own.removed |= rows
        self.removals.append(Removal(topic, rows, Loss.DELETED, life, due))

    def ran(self, policies: Policies) -> None:
        """Logs that a life has run with policies; it may have accepted what they permit."""
        for removal in self.removals:
            removal.accepted |= any(policies.permit(loss) for loss in _reasons(removal))

    def ended(self, life: int) -> None:
        """Logs that a life has read everything that it could."""
        for removal in self.removals:
            removal.settled |= removal.life < life

    def errors(self, policies: Policies, missing: Collection[str]) -> set[str]:
        """Return the errors by which a life may fail.

        Args:
            policies: The policies of the life.
            missing: Topics that the query subscribes to by name, and has no position in.
        """
        # A topic that exists now may have been missing when the life began.
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
        """Return the orders that a life must have read or failed for, and that are not read.

        Args:
            read: The orders in the sink.
            before: The number of orders in each topic (by id) at the start of the life.
        """
        wanted = {
            number
            for one in self.all
            for number in sorted(one.numbers)[: before.get(one.topic_id, 0)]
        }
        return wanted.difference(read, self.excused())

    def excused(self) -> set[int]:
        """Return the orders that may be missing: they were removed, and a policy permitted that."""
        all_of_them = (r.rows for r in self.removals if r.accepted or not r.due)
        return {number for rows in all_of_them for number in rows}

    def counts(self) -> dict[str, int]:
        """Return the number of orders that were written to each topic, by id."""
        return {one.topic_id: len(one.numbers) for one in self.all}


def _reasons(removal: Removal) -> tuple[Loss, ...]:
    """A topic that was recreated may have been seen as deleted before."""
    recreated = removal.loss is Loss.RECREATED
    return (Loss.DELETED, Loss.RECREATED) if recreated else (removal.loss,)


def _is_missing(removal: Removal, existing: Collection[str]) -> bool:
    return removal.loss is Loss.DELETED and removal.topic not in existing
