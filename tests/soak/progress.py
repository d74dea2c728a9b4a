# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of a query, judged by the times at which rows came into its sink."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

LIMIT = 60.0
"""Seconds that a row of a healthy topic may wait while the driver and the brokers run."""

Rows = tuple[float, int]
"""A time, and a number of rows that were produced or read at that time."""

Span = tuple[float, float]
"""A time from its start to its end."""


def stalls(
    produced: Sequence[Rows],
    read: Sequence[Rows],
    alive: Sequence[Span],
    faults: Sequence[Span],
    limit: float = LIMIT,
) -> list[Span]:
    """Return the spans in which rows waited for longer than the limit.

    Args:
        produced: Rows of topics that are not deleted or truncated.
        read: Rows of these topics in the sink.
        alive: Spans in which a driver ran.
        faults: Spans in which brokers or networks failed, which do not count.
        limit: Seconds.
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
    """Return the first time of a span without progress at which a row waits; None if none does."""
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
