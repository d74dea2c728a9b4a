# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Policies of a Kafka source for topics that are deleted, recreated or truncated."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from enum import Enum


class Loss(Enum):
    """Reason for unread records that are no longer available."""

    TRUNCATED = "records were deleted"
    DELETED = "the topic was deleted"
    RECREATED = "the topic was recreated"


@dataclass(frozen=True)
class Policies:
    """Options of one run of a query. An option without a value has its default.

    Attributes:
        loss: ``failOnDataLoss``.
        out_of_range: ``onOutOfRange``.
        removed: ``onTopicRemoved``.
        recreated: ``onTopicRecreated``.
        retention: ``removedRetention``.
    """

    loss: str | None = None
    out_of_range: str | None = None
    removed: str | None = None
    recreated: str | None = None
    retention: str | None = None

    @property
    def options(self) -> dict[str, str]:
        """Return the options that are set."""
        given = {
            "failOnDataLoss": self.loss,
            "onOutOfRange": self.out_of_range,
            "onTopicRemoved": self.removed,
            "onTopicRecreated": self.recreated,
            "removedRetention": self.retention,
        }
        return {name: value for name, value in given.items() if value is not None}

    def permit(self, loss: Loss) -> bool:
        """Return True if the query continues after a loss, according to the documentation."""
        if loss is Loss.RECREATED:
            return self.recreated == "restart"
        policy = self.out_of_range if loss is Loss.TRUNCATED else self.removed
        return self.loss == "false" if policy is None else policy != "fail"

    def remedied(self, error: str) -> Policies:
        """Return the policies with the remedy that the documentation has for an error."""
        if error == "SPLICE_KAFKA_DATA.TOPIC_RECREATED":
            return replace(self, recreated="restart")
        if error == "SPLICE_KAFKA_DATA.DATA_LOSS":
            return replace(self, loss="false", out_of_range=None, removed=None, retention=None)
        return self


PERMISSIVE = Policies(out_of_range="earliest", removed="drop", recreated="restart")
"""Policies that permit every loss."""


def choose(dice: random.Random) -> Policies:
    """Choose a valid combination. About half of the combinations permit every loss."""
    removed = [("drain", None), ("drop", None), ("drop", None), ("drain", "2s"), ("drain", "7d")]
    if dice.random() < 0.5:
        given = dice.choice([("false", None), (None, "earliest"), ("false", "earliest")])
        some = dice.choice([(None, None), *removed]) if given[0] else dice.choice(removed)
        return Policies(*given, some[0], "restart", some[1])
    # Only one value of 'onOutOfRange' is compatible with a value of 'failOnDataLoss'.
    loss, out_of_range = dice.choice(
        [
            (None, None),
            (None, "fail"),
            (None, "earliest"),
            ("true", None),
            ("true", "fail"),
            ("false", None),
            ("false", "earliest"),
        ]
    )
    some = dice.choice([(None, None), ("fail", None), *removed])
    recreated = dice.choice([None, "fail", "restart"])
    return Policies(loss, out_of_range, some[0], recreated, some[1])
