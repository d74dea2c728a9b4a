# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Batches that end at one time: no batch passes an older row that it could read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from demo import orders

DISORDER = 50
"""Milliseconds by which a later record of a partition may be older, as a bound of ``orders``."""

_READABLE = 10.0
"""Seconds after which a query reads a record of a new partition, and a committed record."""


class Batch(NamedTuple):
    """Batch of one run of the driver.

    Attributes:
        at: Time at which the batch was written.
        numbers: Numbers of the orders.
    """

    at: float
    numbers: Sequence[int]


def passed(batches: Sequence[Batch], produced: Callable[[int], float]) -> int | None:
    """Return an order that was readable when an earlier batch was planned with later orders.

    Args:
        batches: Batches of one run, in order. The first batch may have been planned by another run.
        produced: Time at which an order was produced.
    """
    earlier: list[tuple[float, int]] = []
    for before, batch in zip([None, *batches], batches, strict=False):
        for number in batch.numbers:
            late = orders.record(number).timestamp + DISORDER
            readable = produced(number) + _READABLE
            if any(planned > readable and newest > late for planned, newest in earlier):
                return number
        if before is not None and batch.numbers:
            newest = max(orders.record(number).timestamp for number in batch.numbers)
            earlier.append((before.at, newest))
    return None
