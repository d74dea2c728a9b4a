# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Switches between the legs of a hybrid source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from typing import TYPE_CHECKING, Any

from splice._internal import jvm, tables
from splice._internal.display.frames import frame
from splice._internal.progress import lateness, units
from splice._internal.tables import cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    import pandas as pd
    from pyspark.sql.streaming.query import StreamingQuery

_HEADINGS = {
    "topic": "topic",
    "partition": "partition",
    "history": "history has",
    "missing": "missing",
    "repeated": "repeated",
    "fill": "log supplies",
    "unavailable": "unavailable",
    "log": "log has",
    "start": "log is read from",
}
"""Keys of a row in the order of the columns, and their headings."""

_SHOWN = 20


@dataclass(frozen=True, repr=False)
class HandOverDescription:
    """Hand-over of a leg. The hand-over is shown as a table, also in notebooks.

    Attributes:
        leg: Name of the leg that begins.
        rule: The rule as options; empty without a rule.
        at: Time of the evaluation, in ISO 8601; None if the rule was not evaluated.
        start: ``offsets``, ``configured``, or the time at which the leg begins; None if the rule
            was not evaluated.
        rows: Findings of the rule. For ``offsets``, one row per partition, with the keys of the
            [hand-over table](../hybrid.md#hand-over-table).
        policies: Values of ``onHoles``, ``onGap`` and ``onDuplicates``; only in a plan.
        columns: Columns of a previous leg that identify the records of the log, if they are not
            the columns of the rule, by the name of the leg; only in a plan.
        undecided: Reason for a plan without the result of the rule.
        error: Error that would stop the query at the switch; only in a plan.
        source: Index of the source in the query; None in a plan.
        delay_needed: Delay of a watermark that the switch to a log needs: the age of the first
            record of the log before the newest row of the history. None if the time of the history
            is unknown, because the rule has no time column.

    Examples:
        >>> switch = describe(query).hand_overs[0]
        >>> switch.leg, switch.start
        ('live', 'offsets')
        >>> switch.to_pandas()[["topic", "partition", "start"]]
            topic  partition  start
        0  orders          0     10
        1  orders          1     10
        2  orders          2     10
    """

    leg: str
    rule: str
    at: str | None = None
    start: str | None = None
    rows: tuple[Mapping[str, Any], ...] = ()
    policies: tuple[tuple[str, str], ...] = ()
    columns: tuple[tuple[str, Mapping[str, str]], ...] = ()
    undecided: str | None = None
    error: str | None = None
    source: int | None = None
    delay_needed: timedelta | None = None

    def title(self) -> str:
        """Return leg, rule, time and start in one line."""
        rule = self.rule or "without a rule"
        policies = "".join(f" {name}={value}" for name, value in self.policies)
        policies += "".join(f" {leg}.logColumns={json.dumps(own)}" for leg, own in self.columns)
        if self.error is not None:
            result = "the query would stop at the switch"
        elif self.undecided is not None:
            result = f"not decided: {self.undecided}"
        else:
            result = f"decided at {self.at}, start: {self.start}"
            if self.start != "configured":
                needed = self.delay_needed
                delay = units.duration(None if needed is None else needed.total_seconds())
                result += f", watermark delay: {delay or 'unknown'}"
        return f"{self.leg}: {rule}{policies}; {result}"

    def to_pandas(self) -> pd.DataFrame:
        """Return the findings of the rule as a data frame of pandas, one row per partition.

        Raises:
            SetupError: if pandas is not installed.
        """
        return frame(self.rows, tuple(dict.fromkeys(key for row in self.rows for key in row)))

    def __repr__(self) -> str:
        """Return the title and the table as text."""
        found = self.table()
        return self.title() if found is None else f"{self.title()}\n{tables.text(*found)}"

    def _repr_html_(self) -> str:
        """Return the title and the table as HTML, for notebooks."""
        found = self.table()
        return f"<p>{escape(self.title())}</p>{'' if found is None else tables.html(*found)}"

    def table(self) -> tuple[Sequence[str], list[tuple[str, ...]]] | None:
        """Return headings and the first rows; None without rows."""
        if not self.rows:
            return None
        found = dict.fromkeys(key for row in self.rows for key in row)
        keys = [key for key in _HEADINGS if key in found]
        keys += [key for key in found if key not in _HEADINGS]
        rows = [cells([_cell(row.get(key)) for key in keys]) for row in self.rows[:_SHOWN]]
        more = len(self.rows) - _SHOWN
        if more > 0:
            rows.append((f"and {more} more", *[""] * (len(keys) - 1)))
        return [_HEADINGS.get(key, key) for key in keys], rows


def hand_over(leg: str, found: Mapping[str, Any], source: int | None = None) -> HandOverDescription:
    """Parse a hand-over from the JSON of the JVM."""
    start, delay = found.get("start"), found.get("delayNeededMs")
    return HandOverDescription(
        leg,
        found["rule"],
        found.get("at"),
        _time(start["timestamp"]) if isinstance(start, dict) else start,
        tuple(found.get("found", ())),
        tuple((key, found[key]) for key in ("onHoles", "onGap", "onDuplicates") if key in found),
        tuple(found.get("columns", {}).items()),
        found.get("undecided"),
        found.get("error"),
        source,
        lateness.delay(delay if isinstance(delay, int) else None),
    )


def switches_of(query: StreamingQuery) -> tuple[HandOverDescription, ...]:
    """Return the switches of a query of this process; none if its checkpoint cannot be read.

    The progress of a query remains useful while the storage of the checkpoint does not respond.
    """
    try:
        return switches(jvm.history_of(str(query.id)))
    except jvm.unavailable():
        return ()


def switches(events: str) -> tuple[HandOverDescription, ...]:
    """Parse the switches of a query from the events of its checkpoint."""
    return tuple(
        sorted(
            (
                _switch(event["source"], event["details"])
                for event in json.loads(events)
                if event["event"] == "handOver" and "details" in event
            ),
            key=lambda found: found.at or "",
        )
    )


def _switch(name: str, details: Mapping[str, Any]) -> HandOverDescription:
    source, _, leg = name.partition("/leg-")
    return hand_over(leg, details, int(source) if source.isdecimal() else None)


def _time(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, timezone.utc).isoformat()


def _cell(value: Any) -> str | None:
    if isinstance(value, dict):
        return _ranges(value) if "offsets" in value and "first" in value else json.dumps(value)
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(one, int) for one in value):
            return _range(value)
        return "; ".join(_part(one) for one in value) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)


def _part(part: Any) -> str:
    if isinstance(part, dict) and "leg" in part and "range" in part:
        return f"{part['leg']}: {_range(part['range'])}"
    return json.dumps(part)


def _ranges(found: Mapping[str, Any]) -> str | None:
    if not found["offsets"]:
        return None
    more = found.get("count", 0) - len(found["first"])
    shown = ", ".join(_range(one) for one in found["first"])
    return f"{found['offsets']} ({shown}{f' and {more} more ranges' if more > 0 else ''})"


def _range(bounds: Sequence[int]) -> str:
    first, end = bounds
    if end <= first:
        return "none"
    return str(first) if end == first + 1 else f"{first} to {end - 1}"
