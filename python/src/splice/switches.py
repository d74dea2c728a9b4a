# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""How a leg of a hybrid source takes over from the legs before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from splice.tables import cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEADINGS = {
    "topic": "topic",
    "partition": "partition",
    "history": "history has",
    "missing": "missing",
    "repeated": "repeated",
    "fill": "log supplies",
    "compared": "compared",
    "unavailable": "unavailable",
    "log": "log has",
    "start": "log is read from",
}
"""The known keys of a row in the order of the columns, and their headings."""

_SHOWN = 20


@dataclass(frozen=True)
class HandOverDescription:
    """How a leg takes over.

    Attributes:
        leg: The leg that takes over.
        rule: The rule as options; empty if there is none.
        at: When the rule was evaluated, in ISO 8601; None if it was not.
        start: ``offsets``, ``configured``, or the time at which the leg begins; None if the rule
            was not evaluated.
        rows: What the rule used. For ``offsets`` one row for each partition, with the keys of the
            [hand-over table](../hybrid.md#hand-over-table).
        policies: The values of ``onHoles``, ``onGap`` and ``onDuplicates`` that the rule uses; of
            a plan only.
        undecided: Why a plan does not have the result of the rule.
        error: The error that would stop the query at the switch; of a plan only.
    """

    leg: str
    rule: str
    at: str | None = None
    start: str | None = None
    rows: tuple[Mapping[str, Any], ...] = ()
    policies: tuple[tuple[str, str], ...] = ()
    undecided: str | None = None
    error: str | None = None

    def title(self) -> str:
        """Give leg, rule, time and start in one line."""
        rule = self.rule or "without a rule"
        policies = "".join(f" {name}={value}" for name, value in self.policies)
        if self.error is not None:
            result = "the query would stop at the switch"
        elif self.undecided is not None:
            result = f"not decided: {self.undecided}"
        else:
            result = f"decided at {self.at}, start: {self.start}"
        return f"{self.leg}: {rule}{policies}; {result}"

    def table(self) -> tuple[Sequence[str], list[tuple[str, ...]]] | None:
        """Give headings and rows; None if there are no rows. Long tables are cut."""
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


def hand_over(leg: str, found: Mapping[str, Any]) -> HandOverDescription:
    """Read a hand-over from the JSON of the JVM."""
    start = found.get("start")
    return HandOverDescription(
        leg,
        found["rule"],
        found.get("at"),
        _time(start["timestamp"]) if isinstance(start, dict) else start,
        tuple(found.get("found", ())),
        tuple((key, found[key]) for key in ("onHoles", "onGap", "onDuplicates") if key in found),
        found.get("undecided"),
        found.get("error"),
    )


def switches(events: str) -> tuple[HandOverDescription, ...]:
    """Read the switches of a query from the events of its checkpoint."""
    return tuple(
        sorted(
            (
                hand_over(event["source"].partition("/leg-")[2], event["details"])
                for event in json.loads(events)
                if event["event"] == "handOver" and "details" in event
            ),
            key=lambda found: found.at or "",
        )
    )


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
