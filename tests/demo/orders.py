# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Orders that are derived from their numbers, so that tests can compute the expected rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from servers.kafka.producer import Record

PARTITIONS = 4
"""Number of partitions of the topic, which have different numbers of orders."""

PREFIX = "order-"
"""Prefix of every id, before the digits."""

KEPT = {"retention.ms": "-1"}
"""Properties of a topic that keeps all orders, regardless of their timestamps."""

_SHARES = (0, 0, 0, 1, 1, 1, 1, 2, 2, 3)
_FACTOR = 2_654_435_761
_FIRST_TIME = 1_767_225_600_000


def order_id(number: int) -> str:
    """Return the id of an order."""
    return f"{PREFIX}{number:010d}"


def record(number: int) -> Record:
    """Return an order as a record of Kafka. The id is the key."""
    mixed = _mixed(number)
    return Record(
        value=b'{"amount":%.2f,"currency":"EUR"}' % amount(number),
        key=order_id(number).encode(),
        partition=_SHARES[mixed % len(_SHARES)],
        timestamp=_FIRST_TIME + number // 5 - mixed % 40,
    )


def records(first: int, until: int, partition: int | None = None) -> Iterator[Record]:
    """Return orders as records of Kafka, in their partitions or in one partition."""
    for number in range(first, until):
        order = record(number)
        yield order if partition is None else order._replace(partition=partition)


def amount(number: int) -> float:
    """Return the amount of an order."""
    return (_mixed(number + 7) % 100_000) / 100


def amounts(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the amounts of several orders."""
    return ((((numbers + 7) * _FACTOR >> 7) & 0xFFFFFF) % 100_000) / 100


def _mixed(number: int) -> int:
    return (number * _FACTOR >> 7) & 0xFFFFFF
