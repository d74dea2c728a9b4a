# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Timeouts of seeds, and of the clients of their queries."""

from __future__ import annotations

from contextlib import suppress

from demo import orders
from kill.life import Life
from servers.waiting import wait_for

PATIENCE = 240
"""Maximum duration of a driver, in seconds."""

CLIENT = {
    "kafka.request.timeout.ms": "4000",
    "kafka.default.api.timeout.ms": "60000",
    "kafka.reconnect.backoff.max.ms": "500",
    "kafka.max.poll.records": "200",
}
"""Options with short timeouts, so that clients detect a fault."""

_UNSEEN = 20
"""Seconds after which an event occurs although the driver has not read its rows."""


def wait_for_rows(life: Life, rows: int) -> None:
    """Wait until a driver has read a number of rows, has ended, or reads no more rows."""
    with suppress(TimeoutError):
        wait_for(f"{rows} rows", lambda: has_seen(life, rows), _UNSEEN)


def has_seen(life: Life, rows: int) -> bool:
    """Return True if a driver has read a number of rows, or has ended."""
    return life.process.exit_code is not None or len(life.rows) >= rows


def has_read(life: Life, numbers: set[int]) -> bool:
    """Return True if a driver has read certain orders, or has ended."""
    if life.process.exit_code is not None:
        return True
    return numbers <= {int(name.removeprefix(orders.PREFIX)) for name in life.rows}
