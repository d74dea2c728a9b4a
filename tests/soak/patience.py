# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""How long a seed waits, and how long the clients of its queries do."""

from __future__ import annotations

from contextlib import suppress

from kill.life import Life
from servers.waiting import wait_for

PATIENCE = 240
"""Seconds that a driver may take."""

CLIENT = {
    "kafka.request.timeout.ms": "4000",
    "kafka.default.api.timeout.ms": "60000",
    "kafka.reconnect.backoff.max.ms": "500",
    "kafka.max.poll.records": "200",
}
"""Of clients that give an answer up soon, so that they see a fault at all."""

_UNSEEN = 20
"""Seconds after which an event comes although its rows do not."""


def wait_for_rows(life: Life, rows: int) -> None:
    """Waits until a driver has seen so many rows, is over, or sees none."""
    with suppress(TimeoutError):
        wait_for(f"{rows} rows", lambda: has_seen(life, rows), _UNSEEN)


def has_seen(life: Life, rows: int) -> bool:
    """Whether a driver has seen so many rows, or is over."""
    return life.process.exit_code is not None or len(life.rows) >= rows
