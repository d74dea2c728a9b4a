# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Orders: each follows from its number alone, so anybody can say which must be there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from servers.kafka_producer import Record

PARTITIONS = 4
"""Of the topic; they get shares of different size."""

PREFIX = "order-"
"""Of every id; digits follow."""

KEPT = {"retention.ms": "-1"}
"""A topic of orders keeps them all, however old their times are."""

_SHARES = (0, 0, 0, 1, 1, 1, 1, 2, 2, 3)
_FACTOR = 2_654_435_761
_FIRST_TIME = 1_767_225_600_000


def order_id(number: int) -> str:
    """Names an order."""
    return f"{PREFIX}{number:010d}"


def record(number: int) -> Record:
    """Writes an order for Kafka: its id is the key, to a partition that gets more or less."""
    mixed = _mixed(number)
    return Record(
        value=b'{"amount":%.2f,"currency":"EUR"}' % amount(number),
        key=order_id(number).encode(),
        partition=_SHARES[mixed % len(_SHARES)],
        timestamp=_FIRST_TIME + number // 5 - mixed % 40,
    )


def records(first: int, until: int, partition: int | None = None) -> Iterator[Record]:
    """Writes orders for Kafka, each where it belongs or all to one partition."""
    for number in range(first, until):
        own = record(number)
        yield own if partition is None else own._replace(partition=partition)


def amount(number: int) -> float:
    """Gives the order's amount."""
    return (_mixed(number + 7) % 100_000) / 100


def amounts(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Gives the amounts of many orders."""
    return ((((numbers + 7) * _FACTOR >> 7) & 0xFFFFFF) % 100_000) / 100


def _mixed(number: int) -> int:
    return (number * _FACTOR >> 7) & 0xFFFFFF
