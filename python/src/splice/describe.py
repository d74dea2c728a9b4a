# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Where a running query stands."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

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
    """How far behind a topic or a partition is; None is what is not known.

    Attributes:
        name: Of the topic, or the partition as ``topic-0``.
        partitions: How many partitions a topic has.
        rows_behind: Rows still to be read.
        bytes_behind: Their bytes, by the average of what was read of the topic.
        seconds_behind: How long ago the oldest of them came.
        rows_arriving: Rows a second that the topic gets.
    """

    name: str
    partitions: int | None
    rows_behind: int | None
    bytes_behind: int | None
    seconds_behind: int | None
    rows_arriving: int | None

    def cells(self) -> tuple[str, ...]:
        """Gives the values in the order of the table's headings; '-' for what is not known."""
        values = (
            self.name,
            self.partitions,
            self.rows_behind,
            self.bytes_behind,
            self.seconds_behind,
            self.rows_arriving,
        )
        return _cells(values)


_CLUSTER_HEADINGS = (
    "cluster",
    "splits",
    "rows behind",
    "bytes behind",
    "seconds behind",
    "rows/s arriving",
    "failing s",
)


@dataclass(frozen=True)
class ClusterDescription:
    """How one of several clusters fares; None is what is not known.

    Attributes:
        name: As the metadata names it.
        splits: Partitions that are read.
        rows_behind: Rows still to be read.
        bytes_behind: Their bytes, by the average of what was read.
        seconds_behind: How long ago the oldest of them came.
        rows_arriving: Rows a second that the cluster gets.
        failing_seconds: For how long it has given no answer; None while it answers.
    """

    name: str
    splits: int | None
    rows_behind: int | None
    bytes_behind: int | None
    seconds_behind: int | None
    rows_arriving: int | None
    failing_seconds: int | None

    def cells(self) -> tuple[str, ...]:
        """Gives the values in the order of the table's headings; '-' for what is not known."""
        return _cells(astuple(self))


@dataclass(frozen=True)
class SourceDescription:
    """Where one source of a query stands, as of its last progress report.

    Attributes:
        leg: The leg that is being read; None where the source has no legs.
        position: How far the leg has been read, in its own words.
        splits: How many splits the leg has.
        rows_behind: Rows still to be read, as far as they are known.
        bytes_behind: Bytes still to be read, as far as they are known.
        seconds_behind: How long ago the oldest row came that is not read yet, as far as known.
        rows_arriving: Rows a second that came since the last report.
        switches: How many times one leg has taken over from another.
        end_offset: The offset that the last batch ended at, as it is in the checkpoint.
        topics: The topics of a Kafka source, the furthest behind first; ``*`` sums up the others.
        lagging: The partitions of a Kafka source that are furthest behind.
        clusters: The clusters of a source that reads several, by name.
        change_waits_for: Clusters without an answer that a change of streams must ask first.
        metrics: All figures, by the names that the query progress has for them.
    """

    leg: str | None
    position: str | None
    splits: int | None
    rows_behind: int | None
    bytes_behind: int | None
    switches: int | None
    end_offset: str | None
    seconds_behind: int | None = None
    rows_arriving: int | None = None
    topics: tuple[LagDescription, ...] = ()
    lagging: tuple[LagDescription, ...] = ()
    clusters: tuple[ClusterDescription, ...] = ()
    change_waits_for: tuple[str, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict, repr=False)

    def cells(self) -> tuple[str, ...]:
        """Gives the values in the order of the table's headings; '-' for what is not known."""
        values = (
            self.leg,
            self.position,
            self.splits,
            self.rows_behind,
            self.bytes_behind,
            self.seconds_behind,
            self.rows_arriving,
            self.switches,
        )
        return _cells(values)


@dataclass(frozen=True)
class QueryDescription:
    """Where a query stands; prints as a table, in notebooks too.

    Attributes:
        name: The query's name, else its id.
        batch_id: The batch that the last progress report is about; None before the first.
        sources: The sources of Splice in the query.
    """

    name: str
    batch_id: int | None
    sources: tuple[SourceDescription, ...]

    def __str__(self) -> str:
        """Gives the table as text."""
        if not self.sources:
            return f"{self._title()}: {self._nothing()}"
        return "\n".join([self._title(), *(_text(*table) for table in self._tables())])

    def _repr_html_(self) -> str:
        """Gives the table as HTML, for notebooks."""
        if not self.sources:
            return f"<p>{escape(self._title())}: {self._nothing()}</p>"
        return f"<p>{escape(self._title())}</p>" + "".join(_html(*t) for t in self._tables())

    def _tables(self) -> list[tuple[Sequence[str], list[tuple[str, ...]]]]:
        topics = [topic.cells() for source in self.sources for topic in source.topics]
        worst = [one.cells() for source in self.sources for one in source.lagging]
        tables: list[tuple[Sequence[str], list[tuple[str, ...]]]] = [
            (_HEADINGS, [source.cells() for source in self.sources])
        ]
        if clusters := [one.cells() for source in self.sources for one in source.clusters]:
            tables.append((_CLUSTER_HEADINGS, clusters))
        if waits := [_cells((name,)) for s in self.sources for name in s.change_waits_for]:
            tables.append((("a change waits for",), waits))
        if topics:
            tables.append((_TOPIC_HEADINGS, topics))
        if worst:
            headings = ("partition", *_TOPIC_HEADINGS[2:5])
            tables.append((headings, [(row[0], *row[2:5]) for row in worst]))
        return tables

    def _title(self) -> str:
        return self.name if self.batch_id is None else f"{self.name}, batch {self.batch_id}"

    def _nothing(self) -> str:
        if self.batch_id is None:
            return "no progress has been reported yet"
        return "no source of Splice"


def describe(query: StreamingQuery) -> QueryDescription:
    """Says where a query stands: leg, position and backlog of each of its Splice sources.

    It reads the query's last progress report and asks nothing of the sources, so it is cheap and
    works with Spark Connect too.

    Args:
        query: A query, running or ended.
    """
    name = query.name or str(query.id)
    progress: Mapping[str, Any] | None = query.lastProgress
    if progress is None:
        return QueryDescription(name, None, ())
    sources: Sequence[Mapping[str, Any]] = progress["sources"]
    described = tuple(_source(s) for s in sources if "position" in (s.get("metrics") or {}))
    return QueryDescription(name, int(progress["batchId"]), described)


def _source(source: Mapping[str, Any]) -> SourceDescription:
    metrics: Mapping[str, str] = source["metrics"]
    return SourceDescription(
        leg=metrics.get("leg") or None,
        position=metrics.get("position") or None,
        splits=_number(metrics.get("splits")),
        rows_behind=_number(metrics.get("rowsBehind")),
        bytes_behind=_number(metrics.get("bytesBehind")),
        switches=_number(metrics.get("switches")),
        end_offset=source.get("endOffset"),
        seconds_behind=_number(metrics.get("secondsBehind")),
        rows_arriving=_number(metrics.get("rowsArriving")),
        topics=tuple(_lag(name, own) for name, own in _json(metrics.get("topics"), {}).items()),
        lagging=tuple(_lag(own["partition"], own) for own in _json(metrics.get("lagging"), [])),
        clusters=tuple(_cluster(*own) for own in _json(metrics.get("clusters"), {}).items()),
        change_waits_for=tuple(_json(metrics.get("metadataWaiting"), [])),
        metrics=dict(metrics),
    )


def _lag(name: str, figures: Mapping[str, int]) -> LagDescription:
    return LagDescription(
        name,
        figures.get("partitions"),
        figures.get("rowsBehind"),
        figures.get("bytesBehind"),
        figures.get("secondsBehind"),
        figures.get("rowsArriving"),
    )


def _cluster(name: str, figures: Mapping[str, int]) -> ClusterDescription:
    return ClusterDescription(
        name,
        figures.get("splits"),
        figures.get("rowsBehind"),
        figures.get("bytesBehind"),
        figures.get("secondsBehind"),
        figures.get("rowsArriving"),
        figures.get("failingSeconds"),
    )


def _json(text: str | None, default: Any) -> Any:
    return json.loads(text) if text else default


def _cells(values: Sequence[object]) -> tuple[str, ...]:
    return tuple("-" if value is None else str(value) for value in values)


def _text(headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    table = [tuple(headings), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table]
    return "\n".join(line.rstrip() for line in lines)


def _html(headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
