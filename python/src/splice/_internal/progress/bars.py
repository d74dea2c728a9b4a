# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""State of `watch`: one bar per leg of each source, from the progress reports of a query."""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from splice._internal.progress import rates, units
from splice._internal.progress.offsets import offset_json
from splice._internal.progress.rates import Rates, Sample, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILES = re.compile(r"(\d+) of (\d+) files")
_KEPT = 1000
"""Samples per source: the window of 5 minutes at three reports per second."""

_ROUNDING = 1e-9
"""Above the error of a share as a floating-point number. For example, 0.29 * 100 is below 29."""


@dataclass(frozen=True)
class Bar:
    """Progress of one leg. An unknown value is None.

    Attributes:
        name: Name of the leg, with the number of the source if the query has several sources.
        share: Part that is done, from 0 to 1. For files: the share of files that were read to their
            end. For Kafka: the share of the greatest backlog since the first report.
        done: Position of a file leg, or backlog of a Kafka leg.
        rate: Bytes per second of a file leg, or rows per second of a Kafka leg.
        lag: Age of the oldest unread row.
        remaining: Time until the leg has no backlog.
        is_current: Whether the query reads this leg.
    """

    name: str
    share: float | None = None
    done: str = ""
    rate: str = ""
    lag: str = ""
    remaining: str = ""
    is_current: bool = True

    def cells(self) -> tuple[str, ...]:
        """Return the texts after the bar."""
        share = "" if self.share is None else f"{int(self.share * 100 + _ROUNDING)} %"
        return (share, self.done, self.rate, self.lag, self.remaining)

    def line(self) -> str:
        """Return the values of the bar as one line."""
        return f"{self.name}: {', '.join(cell for cell in self.cells() if cell)}"


@dataclass(frozen=True)
class Switch:
    """Switch from one leg to the next leg.

    Attributes:
        before: Name of the bar of the leg that has ended.
        after: Name of the bar of the leg that has begun.
        leg: Name of the leg that has begun.
        source: Index of the source in the query.
    """

    before: str
    after: str
    leg: str
    source: int = 0


class Bars:
    """Bars of a query, in the order of sources and legs."""

    def __init__(self, name: str) -> None:
        """Create the state of a query without reports."""
        self.name = name
        self._bars: dict[tuple[int, str], Bar] = {}
        self._samples: dict[int, deque[Sample]] = {}
        self._greatest: dict[tuple[int, str], int] = {}
        self._last: tuple[Any, ...] | None = None

    @property
    def all(self) -> list[Bar]:
        """Return the bars of the legs that have begun."""
        return [self._bars[key] for key in sorted(self._bars, key=lambda key: key[0])]

    def add(self, report: Mapping[str, Any]) -> list[Switch]:
        """Add a report, and return the switches since the previous report.

        A report that is equal to the previous report has no effect.
        """
        identity = (report.get("runId"), report.get("batchId"), report.get("timestamp"))
        if identity == self._last:
            return []
        self._last = identity
        sources = report.get("sources") or ()
        found = [n for n, one in enumerate(sources) if "position" in (one.get("metrics") or {})]
        switches: list[Switch] = []
        for n in found:
            label = f"{n}: " if len(found) > 1 else ""
            switches += self._add(n, label, report, sources[n])
        return switches

    def _add(
        self, source: int, label: str, report: Mapping[str, Any], found: Mapping[str, Any]
    ) -> list[Switch]:
        metrics: Mapping[str, str] = found["metrics"]
        sample = rates.sample(report, source)
        kept = self._samples.setdefault(source, deque(maxlen=_KEPT))
        if sample is not None:
            kept.append(sample)
        leg = metrics.get("leg") or ""
        begun = [name for of, name in self._bars if of == source]
        # A leg may begin and end before the first report, or between two reports.
        new = [one for one in (*_legs(found.get("endOffset")), leg) if one not in begun]
        new = list(dict.fromkeys(new))
        for one in new:
            name = label + (one or self.name)
            self._bars[(source, one)] = Bar(name, 1.0, "ended", is_current=False)
        for key, bar in self._bars.items():
            if key[0] == source and key[1] != leg:
                self._bars[key] = _ended(bar)
        key = (source, leg)
        self._bars[key] = self._bar(key, self._bars[key].name, metrics, rates.estimate(kept))
        chain = [*begun[-1:], *new] if begun else []
        return [
            Switch(self._bars[(source, one)].name, self._bars[(source, then)].name, then, source)
            for one, then in pairwise(chain)
        ]

    def _bar(
        self, key: tuple[int, str], name: str, metrics: Mapping[str, str], found: Rates
    ) -> Bar:
        rows = whole(metrics.get("rowsBehind"))
        rate = _per_second(units.number(found.rows_per_second), " rows")
        share: float | None
        files = _FILES.match(metrics["position"])
        if files:
            read, listed = int(files[1]), int(files[2])
            share = read / listed if listed else 1.0
            left = units.size(whole(metrics.get("bytesBehind")))
            done = metrics["position"] + (f", {left} left" if left and read < listed else "")
            rate = _per_second(units.size(found.bytes_per_second), "") or rate
        else:
            most = self._greatest[key] = max(self._greatest.get(key, 0), rows or 0)
            share = None if rows is None else 1.0 if most == 0 else (most - rows) / most
            done = metrics["position"] if rows is None else f"{units.number(rows)} unread rows"
        lag = units.duration(whole(metrics.get("secondsBehind")))
        left = None
        if found.remaining is not None and found.remaining.total_seconds() > 0:
            left = units.duration(found.remaining.total_seconds())
        return Bar(
            name,
            share,
            done,
            rate,
            f"lag {lag}" if lag else "",
            f"{left} remaining" if left else "",
        )


def _ended(bar: Bar) -> Bar:
    """Return the bar of a leg that has ended. The last report of the leg may be missing."""
    done = _FILES.sub(r"\2 of \2 files", bar.done).split(", ")[0]
    if not _FILES.match(done):
        done = "ended"
    return replace(bar, share=1.0, done=done, lag="", remaining="", is_current=False)


def _legs(offset: object) -> list[str]:
    """Return the legs of the offset of a hybrid source, in order; no legs for another source."""
    try:
        legs = json.loads(offset_json(offset) or "{}").get("legs", {})
    except (ValueError, AttributeError):
        return []
    return list(legs) if isinstance(legs, dict) else []


def _per_second(amount: str | None, unit: str) -> str:
    return f"{amount}{unit}/s" if amount else ""
