# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Findings of ``splice metadata`` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from splice.cli import OK, PROBLEM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_EVENTS = {
    "clusterAdded": "added clusters",
    "clusterRemoved": "removed clusters",
    "clusterChanged": "clusters with other client properties",
    "clusterLimited": "clusters with other limits",
    "clusterActivated": "activated clusters",
    "clusterDeactivated": "deactivated clusters",
    "topicAdded": "added topics",
    "topicReturned": "topics that resume at their positions",
    "topicRemoved": "removed topics",
    "topicResumed": "topics whose removal or stop ends",
    "topicStopped": "topics that reach their stop",
    "topicCutoverScheduled": "topics that wait for a cutover",
    "topicCutoverDone": "topics whose cutover is done",
    "topicForgotten": "topics whose position is no longer kept",
}
"""Events of the change history, in the order of the output."""


def code(found: Mapping[str, Any]) -> int:
    """Return the exit code of a check or of a comparison."""
    reached = found.get("reached", [])
    wrong = any(one["missing"] or one["forbidden"] or "error" in one for one in reached)
    failed = "error" in found or found.get("problems") or found.get("rejected")
    return PROBLEM if failed or wrong else OK


def check(file: str, found: Mapping[str, Any]) -> str:
    """Return the findings about a document."""
    return "\n".join([*_document(file, found), *_reached(found)])


def diff(file: str, found: Mapping[str, Any]) -> str:
    """Return the differences between a document and a checkpoint."""
    lines = [f"source {found['source']}"]
    if "streams" not in found:
        return "\n".join([*lines, f"error: {found['error']}"])
    generation = found.get("appliedGeneration", "none")
    lines.append(f"checkpoint: change {found['change']}, generation {generation}")
    lines += _document(file, found)
    events = found["events"]
    for event, title in _EVENTS.items():
        if event in events:
            lines.append(f"{title}: {', '.join(events[event])}")
    lines += map(_drain, found["drains"])
    for one in found["rejected"]:
        what = f"streams {', '.join(one['streams'])}" if one["streams"] else "the document"
        lines.append(f"rejected: {what}: {one['reason']}")
    for one in found["waiting"]:
        streams, clusters = ", ".join(one["streams"]), ", ".join(one["clusters"])
        lines.append(f"waiting: streams {streams} wait for the response of {clusters}")
    if "error" in found:
        lines.append(f"the query would fail: {found['error']}")
    elif not events and not found["rejected"] and not found["waiting"]:
        lines.append("no change")
    return "\n".join([*lines, *_reached(found)])


def drained(found: Mapping[str, Any]) -> str:
    """Return the reasons why a cluster can, or cannot, be switched off."""
    lines = [f"source {found['source']}"]
    if found["drained"]:
        lines.append(f"yes: the query no longer needs the cluster '{found['cluster']}'")
    else:
        lines.append(f"no: the query needs {len(found['topics'])} topics of '{found['cluster']}'")
    for one in found["topics"]:
        note = f" ({one['note']})" if "note" in one else ""
        lines.append(f"  {one['topic']}: {one['state']}, {_rows(one)}{note}")
    return "\n".join([*lines, *(f"note: {note}" for note in found["notes"])])


def _document(file: str, found: Mapping[str, Any]) -> Iterator[str]:
    if "streams" not in found:
        yield f"invalid: {found['error']}"
        return
    topics = sum(len(stream["topics"]) for stream in found["streams"])
    generation = found.get("generation", "none")
    yield (
        f"{file}: generation {generation}, {len(found['clusters'])} clusters, "
        f"{len(found['streams'])} streams, {topics} topics"
    )
    for problem in found["problems"]:
        yield f"problem: {problem}"


def _drain(found: Mapping[str, Any]) -> str:
    note = f" ({found['note']})" if "note" in found else ""
    return f"drained: {found['cluster']}/{found['topic']}, {_rows(found)}{note}"


def _rows(found: Mapping[str, Any]) -> str:
    return f"{found['rows']} unread rows" if "rows" in found else "unread rows unknown"


def _reached(found: Mapping[str, Any]) -> Iterator[str]:
    for one in found.get("reached", []):
        name = one["cluster"]
        if not one["active"]:
            yield f"cluster {name}: inactive, not checked"
        elif "error" in one:
            yield f"cluster {name}: {one['error']}"
        else:
            wrong = len(one["missing"]) + len(one["forbidden"])
            state = f"{wrong} problems" if wrong else "all topics exist and can be read"
            yield f"cluster {name}: responds, {state}"
        for topic in one["missing"]:
            yield f"  missing topic: {topic}"
        for topic in one["forbidden"]:
            yield f"  missing permission: {topic['permission']} on {topic['topic']}"
