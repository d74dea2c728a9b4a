# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Rates and remaining time of a source, estimated from progress reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WINDOW = timedelta(minutes=5)
"""Reports that are older than the last report by more than this time do not count.

Reports before an idle time of more than this time do not count either.
"""

LEAST = 5
"""This many reports count regardless of their age, because a batch may take longer than WINDOW."""

_LONGEST = timedelta(days=10_000)


@dataclass(frozen=True)
class Sample:
    """Figures of one source in one progress report. An unknown value is None.

    Attributes:
        run: Id of the run of the query.
        batch: Number of the batch.
        start: Start of the batch.
        took: Duration of the batch.
        rows: Number of rows that the batch read from the source.
        leg: Leg after the batch.
        rows_behind: Number of unread rows after the batch.
        bytes_behind: Number of unread bytes after the batch.
    """

    run: str
    batch: int
    start: datetime
    took: timedelta
    rows: int
    leg: str | None
    rows_behind: int | None
    bytes_behind: int | None

    @property
    def end(self) -> datetime:
        """Return the end of the batch."""
        return self.start + self.took

    @property
    def has_backlog(self) -> bool:
        """Return True if the source has unread rows after the batch; False if unknown."""
        return bool(self.rows_behind or self.bytes_behind)


@dataclass(frozen=True)
class Rates:
    """Estimate of a source. An unknown value is None.

    Attributes:
        rows_per_second: Number of rows that the query reads per second. The time includes the
            waits between batches.
        bytes_per_second: Number of bytes of files that the query reads per second.
        remaining: Time until the leg has no backlog.
    """

    rows_per_second: float | None = None
    bytes_per_second: float | None = None
    remaining: timedelta | None = None


def sample(report: Mapping[str, Any], source: int) -> Sample | None:
    """Return the figures of a source in a report; None if the report does not have the source.

    Args:
        report: Progress report of a query.
        source: Index of the source in the report.
    """
    sources: Sequence[Mapping[str, Any]] = report.get("sources") or ()
    start = _time(report.get("timestamp"))
    if source >= len(sources) or start is None:
        return None
    found = sources[source]
    metrics: Mapping[str, str] = found.get("metrics") or {}
    took = (report.get("durationMs") or {}).get("triggerExecution") or 0
    return Sample(
        str(report.get("runId")),
        int(report.get("batchId") or 0),
        start,
        timedelta(milliseconds=max(int(took), 0)),
        max(int(found.get("numInputRows") or 0), 0),
        metrics.get("leg") or None,
        whole(metrics.get("rowsBehind")),
        whole(metrics.get("bytesBehind")),
    )


def window(samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples that count: those of the last run and leg, within WINDOW.

    LEAST exists for long batches and long triggers, so a query without backlog that waits for
    more than WINDOW begins again.
    """
    kept: list[Sample] = []
    for one in samples:
        # A clock that moves backwards makes all times before the move useless.
        if kept and (
            (one.run, one.leg) != (kept[-1].run, kept[-1].leg)
            or one.start < kept[-1].start
            or (one.start - kept[-1].end > WINDOW and not kept[-1].has_backlog)
        ):
            kept.clear()
        kept.append(one)
    old = [n for n, one in enumerate(kept) if one.end < kept[-1].end - WINDOW]
    return kept[min(len(old), max(len(kept) - LEAST, 0)) :]


def estimate(samples: Iterable[Sample]) -> Rates:
    """Estimate rates and remaining time from the samples of a source, oldest first.

    Samples may be missing. For example, a caller that polls the last report misses short batches.
    """
    kept = window(samples)
    if not kept:
        return Rates()
    rows = _rows_per_second(kept)
    files = kept[-1].rows_behind is None
    backlog = [
        (one.end, behind)
        for one in kept
        if (behind := one.bytes_behind if files else one.rows_behind) is not None
    ]
    if not backlog or (kept[-1].bytes_behind if files else kept[-1].rows_behind) is None:
        return Rates(rows)
    left = backlog[-1][1]
    # The backlog shrinks by the rate of reading minus the rate of arriving. The slope begins at
    # the last maximum, because the backlog before a burst of new rows has no effect on the time.
    most = max(backlog, key=lambda one: (one[1], one[0]))
    remaining = _remaining(left, _slope(most, backlog[-1]))
    read = _slope(backlog[0], backlog[-1]) if files else None
    return Rates(rows, read if read is None or read >= 0 else None, remaining)


def of(reports: Iterable[Mapping[str, Any]], source: int) -> Rates:
    """Estimate rates and remaining time of a source from progress reports, oldest first."""
    found = (sample(report, source) for report in reports)
    return estimate(one for one in found if one is not None)


def _rows_per_second(kept: Sequence[Sample]) -> float | None:
    seconds = sum(
        _covered(one, following).total_seconds()
        for one, following in zip(kept, [*kept[1:], None], strict=True)
    )
    return sum(one.rows for one in kept) / seconds if seconds > 0 else None


def _covered(one: Sample, following: Sample | None) -> timedelta:
    """Return the time until the next batch, or the duration of the batch if a report is missing."""
    if following is None or following.batch - one.batch not in (0, 1):
        return one.took
    return max(following.start - one.start, one.took)


def _slope(first: tuple[datetime, int], last: tuple[datetime, int]) -> float | None:
    """Return by how much a backlog shrinks per second; None for two reports at the same time."""
    seconds = (last[0] - first[0]).total_seconds()
    return (first[1] - last[1]) / seconds if seconds > 0 else None


def _remaining(left: int, shrinks: float | None) -> timedelta | None:
    if left <= 0:
        return timedelta(0)
    if shrinks is None or shrinks <= 0:
        return None
    seconds = left / shrinks
    return timedelta(seconds=round(seconds)) if seconds < _LONGEST.total_seconds() else None


def whole(text: str | None) -> int | None:
    """Parse a metric; None if the metric is absent or not a whole number."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def read(text: str | None, default: Any) -> Any:
    """Parse a metric of JSON; the default if the metric is absent."""
    return json.loads(text) if text else default


def _time(text: object) -> datetime | None:
    try:
        # Python 3.10 does not parse Z.
        return datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None
