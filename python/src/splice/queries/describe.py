# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Position and backlog of a query."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from splice._internal import jvm, tables
from splice.queries import clusters
from splice.queries.clusters import ClusterDescription, WaitingGroupDescription
from splice.queries.switches import HandOverDescription, switches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.streaming.query import StreamingQuery

_HEADINGS = (
    "leg",
    "position",
    "splits",
    "rows behind",
    "bytes behind",
    "seconds behind",
    "rows/s arriving",
    "switches",
)

_TOPIC_HEADINGS = (
    "topic",
    "partitions",
    "rows behind",
    "bytes behind",
    "seconds behind",
    "rows/s arriving",
)


@dataclass(frozen=True)
class LagDescription:
    """Lag of a topic or a partition. A value that is unknown is None.

    Attributes:
        name: Name of the topic, or of the partition as ``topic-0``.
        partitions: Number of partitions of a topic.
        rows_behind: Number of unread rows.
        bytes_behind: Size of the unread rows in bytes, computed from the average size of the
            records of the topic that were read.
        seconds_behind: Age of the oldest unread row in seconds.
        rows_arriving_per_second: Number of new rows per second.
    """

    name: str
    partitions: int | None
    rows_behind: int | None
    bytes_behind: int | None
    seconds_behind: int | None
    rows_arriving_per_second: int | None

    def cells(self) -> tuple[str, ...]:
        """Return the values in the order of the headings; '-' for an unknown value."""
        return tables.cells(astuple(self))


@dataclass(frozen=True)
class SourceDescription:
    """Position and backlog of one source of a query in its last progress report.

    Attributes:
        leg: Current leg; None if the source has no legs.
        position: Position in the leg, as a short text.
        splits: Number of splits of the leg.
        rows_behind: Number of unread rows; None if unknown.
        bytes_behind: Number of unread bytes; None if unknown.
        seconds_behind: Age of the oldest unread row in seconds; None if unknown.
        rows_arriving_per_second: Number of new rows per second since the last report.
        slots: Number of slots of the last batch; None if the source has no slots.
        switches_total: Number of switches from one leg to the next leg in this run.
        end_offset: End offset of the last batch, as in the checkpoint.
        topics: Topics of a Kafka source, greatest lag first; ``*`` has the sum of the other topics.
        lagging: Partitions of a Kafka source with the greatest lag.
        clusters: Clusters of a source of several clusters, by name.
        metadata_waits_for: Unavailable clusters whose response a pending change of streams needs.
        waiting_groups: Groups of streams that a metadata document changes, and that wait or are
            rejected; the first 10 by name.
        streams_paused: Streams that the metadata pauses.
        metrics: All figures, by their names in the query progress.
    """

    leg: str | None
    position: str | None
    splits: int | None
    rows_behind: int | None
    bytes_behind: int | None
    switches_total: int | None
    end_offset: str | None
    seconds_behind: int | None = None
    rows_arriving_per_second: int | None = None
    slots: int | None = None
    topics: tuple[LagDescription, ...] = ()
    lagging: tuple[LagDescription, ...] = ()
    clusters: tuple[ClusterDescription, ...] = ()
    metadata_waits_for: tuple[str, ...] = ()
    waiting_groups: tuple[WaitingGroupDescription, ...] = ()
    streams_paused: tuple[str, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict, repr=False)

    def cells(self) -> tuple[str, ...]:
        """Return the values in the order of the headings; '-' for an unknown value."""
        values = (
            self.leg,
            self.position,
            self.splits,
            self.rows_behind,
            self.bytes_behind,
            self.seconds_behind,
            self.rows_arriving_per_second,
            self.switches_total,
        )
        return tables.cells(values)


@dataclass(frozen=True)
class QueryDescription:
    """Position and backlog of a query. The result prints as a table, also in notebooks.

    Attributes:
        name: Name of the query, or the id of a query without a name.
        batch_id: Batch of the last progress report; None before the first report.
        sources: Sources of Splice in the query.
        hand_overs: Switches in the checkpoint; empty with Spark Connect.
    """

    name: str
    batch_id: int | None
    sources: tuple[SourceDescription, ...]
    hand_overs: tuple[HandOverDescription, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all values as dicts, tuples, numbers and texts."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the tables as text."""
        if not self.sources:
            return f"{self._title()}: {self._nothing()}"
        lines = [self._title(), *(tables.text(*table) for table in self._tables())]
        for one in self.hand_overs:
            lines.append(one.title())
            lines += [tables.text(*table) for table in [one.table()] if table]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the tables as HTML, for notebooks."""
        if not self.sources:
            return f"<p>{escape(self._title())}: {self._nothing()}</p>"
        html = f"<p>{escape(self._title())}</p>" + "".join(tables.html(*t) for t in self._tables())
        for one in self.hand_overs:
            html += f"<p>{escape(one.title())}</p>"
            html += "".join(tables.html(*table) for table in [one.table()] if table)
        return html

    def _tables(self) -> list[tuple[Sequence[str], list[tuple[str, ...]]]]:
        topics = [topic.cells() for source in self.sources for topic in source.topics]
        worst = [one.cells() for source in self.sources for one in source.lagging]
        found: list[tuple[Sequence[str], list[tuple[str, ...]]]] = [
            (_HEADINGS, [source.cells() for source in self.sources])
        ]
        if each := [one.cells() for source in self.sources for one in source.clusters]:
            found.append((clusters.HEADINGS, each))
        if groups := [one.cells() for source in self.sources for one in source.waiting_groups]:
            found.append((clusters.GROUP_HEADINGS, groups))
        if paused := [tables.cells((name,)) for s in self.sources for name in s.streams_paused]:
            found.append((("paused streams",), paused))
        if topics:
            found.append((_TOPIC_HEADINGS, topics))
        if worst:
            headings = ("partition", *_TOPIC_HEADINGS[2:5])
            found.append((headings, [(row[0], *row[2:5]) for row in worst]))
        return found

    def _title(self) -> str:
        return self.name if self.batch_id is None else f"{self.name}, batch {self.batch_id}"

    def _nothing(self) -> str:
        if self.batch_id is None:
            return "no progress has been reported yet"
        return "the query has no Splice source"


def describe(query: StreamingQuery) -> QueryDescription:
    """Return leg, position and backlog of each Splice source of a query.

    The values are from the query's last progress report, and the switches are from the checkpoint.
    With Spark Connect, and for a query of another driver, the result has no switches.

    Args:
        query: A running or ended query.
    """
    name = query.name or str(query.id)
    progress: Mapping[str, Any] | None = query.lastProgress
    if progress is None:
        return QueryDescription(name, None, ())
    sources: Sequence[Mapping[str, Any]] = progress["sources"]
    described = tuple(_source(s) for s in sources if "position" in (s.get("metrics") or {}))
    has_legs = any(source.leg for source in described)
    taken = switches(jvm.history_of(str(query.id))) if has_legs else ()
    return QueryDescription(name, int(progress["batchId"]), described, taken)


def _source(source: Mapping[str, Any]) -> SourceDescription:
    metrics: Mapping[str, str] = source["metrics"]
    return SourceDescription(
        leg=metrics.get("leg") or None,
        position=metrics.get("position") or None,
        splits=_number(metrics.get("splits")),
        rows_behind=_number(metrics.get("rowsBehind")),
        bytes_behind=_number(metrics.get("bytesBehind")),
        switches_total=_number(metrics.get("switchesTotal")),
        end_offset=source.get("endOffset"),
        seconds_behind=_number(metrics.get("secondsBehind")),
        rows_arriving_per_second=_number(metrics.get("rowsArrivingPerSecond")),
        slots=_number(metrics.get("slots")),
        topics=tuple(_lag(name, topic) for name, topic in _json(metrics.get("topics"), {}).items()),
        lagging=tuple(
            _lag(partition["partition"], partition)
            for partition in _json(metrics.get("lagging"), [])
        ),
        clusters=clusters.described(_json(metrics.get("clusters"), {})),
        metadata_waits_for=tuple(_json(metrics.get("metadataWaitsFor"), [])),
        waiting_groups=clusters.groups(_json(metrics.get("waitingGroups"), [])),
        streams_paused=tuple(_json(metrics.get("streamsPaused"), [])),
        metrics=dict(metrics),
    )


def _lag(name: str, figures: Mapping[str, int]) -> LagDescription:
    return LagDescription(
        name,
        figures.get("partitions"),
        figures.get("rowsBehind"),
        figures.get("bytesBehind"),
        figures.get("secondsBehind"),
        figures.get("rowsArrivingPerSecond"),
    )


def _json(text: str | None, default: Any) -> Any:
    return json.loads(text) if text else default


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
