# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of a query, by the times at which rows arrived in its sink."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

LIMIT = 60.0
"""Maximum delay of a row of a healthy topic while the driver and the brokers run, in seconds."""

Rows = tuple[float, int]
"""Time, and number of rows that were produced or read at that time."""

Span = tuple[float, float]
"""Start and end of a period."""


def stalls(
    produced: Sequence[Rows],
    read: Sequence[Rows],
    alive: Sequence[Span],
    faults: Sequence[Span],
    limit: float = LIMIT,
) -> list[Span]:
    """Return the periods in which rows waited for longer than the limit.

    Args:
        produced: Rows of topics that are not deleted or truncated.
        read: Rows of these topics in the sink.
        alive: Periods with a running driver.
        faults: Periods with faults of brokers or networks, which are excluded.
        limit: Limit in seconds.
    """
    found = []
    for begin, end in alive:
        commits = sorted(at for at, rows in read if rows and begin < at < end)
        for start, until in itertools.pairwise([begin, *commits, end]):
            since = _waiting_since(start, until, produced, read)
            if since is not None and _healthy(since, until, faults) > limit:
                found.append((since, until))
    return found


def _waiting_since(
    start: float, until: float, produced: Sequence[Rows], read: Sequence[Rows]
) -> float | None:
    """Return the first time of a period without progress at which a row waits, or None."""
    unread = sum(rows for at, rows in produced if at <= start)
    unread -= sum(rows for at, rows in read if at <= start)
    for at, rows in [(start, 0), *sorted(r for r in produced if start < r[0] < until)]:
        unread += rows
        if unread > 0:
            return at
    return None


def _healthy(start: float, until: float, faults: Sequence[Span]) -> float:
    seconds, at = 0.0, start
    for begin, end in sorted(faults):
        if end > at and begin < until:
            seconds += max(0.0, begin - at)
            at = min(end, until)
    return seconds + until - at
