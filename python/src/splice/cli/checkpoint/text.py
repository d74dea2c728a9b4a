# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Text of the results of ``splice checkpoint``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD = 100
"""Maximum number of characters of the head of an entry."""


def state(found: dict[str, Any]) -> str:
    """Return the text of ``show``."""
    lines = [
        f"query id: {found.get('query', 'unknown')}",
        f"last planned batch: {found.get('planned', 'none')}",
        f"last committed batch: {found.get('committed', 'none')}",
        f"batch without commit: {_numbers(found['uncommitted'])}",
    ]
    for source in found["sources"]:
        lines += _source(source)
    return "\n".join(lines)


def _source(source: dict[str, Any]) -> Iterable[str]:
    kind = source.get("kind", "not a source of Splice or Kafka")
    yield f"source {source['source']}: {kind}"
    if "legs" in source:
        yield "  legs: " + ", ".join(_leg(leg, source.get("leg")) for leg in source["legs"])
    committed = source.get("committed")
    yield f"  position: {'none' if committed is None else _json(committed)}"
    planned = source.get("planned")
    if planned != committed:
        text = "cannot be read" if planned is None else _json(planned)
        yield f"  position of the batch without commit: {text}"
    if not source["sideLog"]:
        yield "  side log: none, as for a source of Spark"
        return
    yield f"  side log: {len(source['entries'])} entries"
    for entry in source["entries"]:
        yield f"    {entry['entry']} {entry.get('damaged') or _shortened(_json(entry['head']))}"


def _leg(leg: dict[str, Any], current: str | None) -> str:
    marks = [
        mark
        for mark, holds in (("current", leg["name"] == current), ("removed", leg["removed"]))
        if holds
    ]
    return f"{leg['name']} ({', '.join([leg['kind'], *marks])})"


def findings(found: dict[str, Any]) -> str:
    """Return the text of ``verify``."""
    compared = "compared" if found["compared"] else "not compared (set --servers)"
    lines = [
        f"{found['batches']} batches and {found['entries']} entries of side logs read,"
        f" offsets of brokers {compared}"
    ]
    for one in found["findings"]:
        lines += _finding("problem" if one["problem"] else "note", one)
    problems = sum(one["problem"] for one in found["findings"])
    lines.append(f"{problems} problem{'' if problems == 1 else 's'}")
    return "\n".join(lines)


def _finding(label: str, one: dict[str, Any]) -> Iterable[str]:
    yield f"{label}: {one['where']}"
    yield f"  {one['what']}"
    yield f"  Next step: {one['next']}"


def difference(found: dict[str, Any]) -> str:
    """Return the text of ``diff``."""
    lines = []
    for source in found["sources"]:
        for change in source["changes"]:
            before, after = change.get("before", "none"), change.get("after", "none")
            by = f" ({change['change']:+d})" if "change" in change else ""
            path = " ".join(change["path"])
            lines.append(f"source {source['source']}: {path}: {before} -> {after}{by}")
    return "\n".join(lines) if lines else "no difference"


def _numbers(batches: list[int]) -> str:
    return ", ".join(map(str, batches)) or "none"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _shortened(text: str) -> str:
    return text if len(text) <= _HEAD else f"{text[: _HEAD - 3]}..."
