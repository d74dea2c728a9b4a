# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Position, backlog and rates of a query."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from splice._internal import tables
from splice._internal.display.frames import frame
from splice._internal.progress import lateness, rates, retention, units
from splice._internal.progress.offsets import offset_json
from splice._internal.progress.rates import Rates, read, whole
from splice.errors import OptionError
from splice.queries import clusters
from splice.queries.clusters import ClusterDescription, WaitingGroupDescription
from splice.queries.switches import HandOverDescription, switches_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_HEADINGS = (
    "leg",
    "position",
    "splits",
    "rows behind",
    "bytes behind",
    "time behind",
    "rows/s arriving",
    "rows/s",
    "bytes/s",
    "remaining",
    "switches",
)

_TOPIC_HEADINGS = (
    "topic",
    "partitions",
    "rows behind",
    "bytes behind",
    "time behind",
    "rows/s arriving",
)

Table = Literal["sources", "topics", "lagging", "clusters"]
"""Tables of ``QueryDescription.to_pandas``."""

_NOT_IN_PANDAS = (
    "topics",
    "lagging",
    "clusters",
    "waiting_groups",
    "metadata_waits_for",
    "metrics",
)


@dataclass(frozen=True)
class LagDescription:
    """Lag of a topic or a partition. A value that is unknown is None.

    Examples:
        >>> [(topic.partitions, topic.rows_behind) for topic in describe(query).sources[0].topics]
        [(3, 0)]

    Attributes:
        name: Name of the topic, or of the partition as ``topic-0``.
        partitions: Number of partitions of a topic.
        rows_behind: Number of unread rows.
        bytes_behind: Size of the unread rows in bytes, computed from the average size of the
            records of the topic that were read.
        seconds_behind: Upper bound of the age of the oldest unread row in seconds.
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
        return tables.cells(
            (
                self.name,
                units.number(self.partitions),
                units.number(self.rows_behind),
                units.size(self.bytes_behind),
                units.duration(self.seconds_behind),
                units.number(self.rows_arriving_per_second),
            )
        )


@dataclass(frozen=True)
class SourceDescription:
    """Position, backlog and rates of one source at the last progress report.

    Examples:
        >>> source = describe(query).sources[0]
        >>> source.leg, source.rows_behind
        ('live', 0)

    Attributes:
        leg: Current leg; None if the source has no legs.
        position: Position in the leg, as a short text.
        splits: Number of splits of the leg.
        rows_behind: Number of unread rows; None if unknown.
        bytes_behind: Number of unread bytes; None if unknown.
        seconds_behind: Upper bound of the age of the oldest unread row in seconds, or None.
        rows_arriving_per_second: Number of new rows per second since the last report.
        rows_per_second: Number of rows that the query reads per second. The estimate uses the
            reports of the last 5 minutes, and at least 5 reports, of the current run and leg. The
            time includes the waits between batches. An idle time of more than 5 minutes begins a
            new estimate.
        bytes_per_second: Number of bytes of files that the query reads per second; None for Kafka,
            and before the second report of a leg.
        remaining: Time until the current leg has no backlog, at the rate at which the backlog
            shrinks; None if unknown, or if the backlog does not shrink.
        slots: Number of slots of the last batch; None if the source has no slots.
        switches_total: Number of switches from one leg to the next leg in this run.
        end_offset: End offset of the last batch, as in the checkpoint.
        delay_needed: Delay of a watermark that would have dropped no row in this run, or None.
        rows_held: Number of offsets that wait for their time; None without ``eventTime``.
        oldest_record_age: Age of the oldest record of the log that follows a history, or None.
        topics: Topics of a Kafka source, greatest lag first; ``*`` has the sum of the other topics.
        lagging: Partitions of a Kafka source with the greatest lag.
        clusters: Clusters of a source of several clusters, by name.
        metadata_waits_for: Unavailable clusters whose response a pending change of streams needs.
        waiting_groups: Groups of streams whose change waits or is rejected; the first 10 by name.
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
    rows_per_second: float | None = None
    bytes_per_second: float | None = None
    remaining: timedelta | None = None
    slots: int | None = None
    delay_needed: timedelta | None = None
    rows_held: int | None = None
    oldest_record_age: timedelta | None = None
    topics: tuple[LagDescription, ...] = ()
    lagging: tuple[LagDescription, ...] = ()
    clusters: tuple[ClusterDescription, ...] = ()
    metadata_waits_for: tuple[str, ...] = ()
    waiting_groups: tuple[WaitingGroupDescription, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict, repr=False)

    def cells(self) -> tuple[str, ...]:
        """Return the values in the order of the headings; '-' for an unknown value."""
        values = (
            self.leg,
            self.position,
            units.number(self.splits),
            units.number(self.rows_behind),
            units.size(self.bytes_behind),
            units.duration(self.seconds_behind),
            units.number(self.rows_arriving_per_second),
            units.number(self.rows_per_second),
            units.size(self.bytes_per_second),
            None if self.remaining is None else units.duration(self.remaining.total_seconds()),
            units.number(self.switches_total),
        )
        return tables.cells(values)


@dataclass(frozen=True, repr=False)
class QueryDescription:
    """Position and backlog of a query. The result is displayed as a table, also in notebooks.

    Examples:
        >>> [source.leg for source in describe(query).sources]
        ['live']

    Attributes:
        name: Name of the query, or the id of a query without a name.
        batch_id: Batch of the last progress report; None before the first report.
        sources: Sources of Splice in the query.
        hand_overs: Switches in the checkpoint; empty with Spark Connect, or without its storage.
    """

    name: str
    batch_id: int | None
    sources: tuple[SourceDescription, ...]
    hand_overs: tuple[HandOverDescription, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all values as dicts, tuples, numbers, texts and ``timedelta``."""
        return asdict(self)

    def to_pandas(self, table: Table = "sources") -> pandas.DataFrame:
        """Return one of the tables as a pandas DataFrame, with the attributes as columns.

        Args:
            table: ``sources`` (one row per source), ``topics``, ``lagging`` or ``clusters``. The
                column ``source`` is the index of the source in ``sources``.

        Raises:
            OptionError: if no table has this name.
            SetupError: if pandas is not installed.

        Examples:
            >>> list(describe(query).to_pandas().columns[:3])
            ['source', 'leg', 'position']
        """
        if table not in get_args(Table):
            allowed = ", ".join(repr(name) for name in get_args(Table))
            raise OptionError.of("SPLICE_BUILDER.INVALID_TABLE", value=repr(table), allowed=allowed)
        rows: Sequence[tuple[int, SourceDescription | LagDescription | ClusterDescription]]
        kind: type[SourceDescription | LagDescription | ClusterDescription]
        if table == "sources":
            kind, rows = SourceDescription, list(enumerate(self.sources))
        else:
            kind = ClusterDescription if table == "clusters" else LagDescription
            rows = [(n, one) for n, of in enumerate(self.sources) for one in getattr(of, table)]
        columns = [
            name for name, one in kind.__dataclass_fields__.items() if name not in _NOT_IN_PANDAS
        ]
        data = ({"source": n} | {name: getattr(one, name) for name in columns} for n, one in rows)
        return frame(data, ["source", *columns])

    def __repr__(self) -> str:
        """Return the tables as text."""
        return str(self)

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

    def _tables(self) -> list[tuple[Sequence[str], list[tuple[str, ...]], int | None]]:
        topics = [topic.cells() for source in self.sources for topic in source.topics]
        worst = [one.cells() for source in self.sources for one in source.lagging]
        found: list[tuple[Sequence[str], list[tuple[str, ...]], int | None]] = [
            (_HEADINGS, [source.cells() for source in self.sources], 2)
        ]
        if each := [one.cells() for source in self.sources for one in source.clusters]:
            found.append((clusters.HEADINGS, each, 1))
        if groups := [one.cells() for source in self.sources for one in source.waiting_groups]:
            found.append((clusters.GROUP_HEADINGS, groups, None))
        found += lateness.table([(one.delay_needed, one.rows_held) for one in self.sources])
        found += retention.table([one.oldest_record_age for one in self.sources])
        if topics:
            found.append((_TOPIC_HEADINGS, topics, 1))
        if worst:
            headings = ("partition", *_TOPIC_HEADINGS[2:5])
            found.append((headings, [(row[0], *row[2:5]) for row in worst], 1))
        return found

    def _title(self) -> str:
        return self.name if self.batch_id is None else f"{self.name}, batch {self.batch_id}"

    def _nothing(self) -> str:
        if self.batch_id is None:
            return "no progress has been reported yet"
        return "the query has no Splice source"


class QueryDescriptions(tuple[QueryDescription, ...]):
    """Descriptions of several queries. The result is displayed as tables, also in notebooks.

    Examples:
        >>> describe(spark)
        no active query
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the tables as text."""
        return "\n\n".join(map(str, self)) or "no active query"

    def _repr_html_(self) -> str:
        """Return the tables as HTML, for notebooks."""
        return "".join(one._repr_html_() for one in self) or "<p>no active query</p>"


@overload
def describe(query: StreamingQuery) -> QueryDescription: ...


@overload
def describe(query: SparkSession) -> QueryDescriptions: ...


def describe(query: StreamingQuery | SparkSession) -> QueryDescription | QueryDescriptions:
    """Return leg, position, backlog and rates of each Splice source of a query.

    The values are from the progress reports of the query, and the switches are from the
    checkpoint. The function sends no request to the sources. With Spark Connect, and for a query of
    another driver, the result has no switches.

    Args:
        query: A running or ended query, or a session. The result of a session has a description per
            active query, in the order of the names.

    Examples:
        >>> described = describe(query)
        >>> "rows behind" in str(described)
        True
        >>> rate, left = described.sources[0].rows_per_second, described.sources[0].remaining
        >>> len(describe(spark)) == len(spark.streams.active)
        True
    """
    if hasattr(query, "streams"):
        found = (_described(one) for one in query.streams.active)
        return QueryDescriptions(sorted(found, key=lambda one: one.name))
    return _described(query)


def _described(query: StreamingQuery) -> QueryDescription:
    name = query.name or str(query.id)
    reports: Sequence[Mapping[str, Any]] = query.recentProgress
    if not reports:
        return QueryDescription(name, None, ())
    progress = reports[-1]
    sources: Sequence[Mapping[str, Any]] = progress["sources"]
    described = tuple(
        _source(source, rates.of(reports, n))
        for n, source in enumerate(sources)
        if "position" in (source.get("metrics") or {})
    )
    has_legs = any(source.leg for source in described)
    taken = switches_of(query) if has_legs else ()
    return QueryDescription(name, int(progress["batchId"]), described, taken)


def _source(source: Mapping[str, Any], estimated: Rates) -> SourceDescription:
    metrics: Mapping[str, str] = source["metrics"]
    return SourceDescription(
        leg=metrics.get("leg") or None,
        position=metrics.get("position") or None,
        splits=whole(metrics.get("splits")),
        rows_behind=whole(metrics.get("rowsBehind")),
        bytes_behind=whole(metrics.get("bytesBehind")),
        switches_total=whole(metrics.get("switchesTotal")),
        end_offset=offset_json(source.get("endOffset")),
        seconds_behind=whole(metrics.get("secondsBehind")),
        rows_arriving_per_second=whole(metrics.get("rowsArrivingPerSecond")),
        rows_per_second=estimated.rows_per_second,
        bytes_per_second=estimated.bytes_per_second,
        remaining=estimated.remaining,
        slots=whole(metrics.get("slots")),
        delay_needed=lateness.delay(whole(metrics.get("delayNeededMs"))),
        rows_held=whole(metrics.get("rowsHeld")),
        oldest_record_age=lateness.delay(whole(metrics.get("oldestRecordAgeMs"))),
        topics=tuple(_lag(name, topic) for name, topic in read(metrics.get("topics"), {}).items()),
        lagging=tuple(
            _lag(partition["partition"], partition)
            for partition in read(metrics.get("lagging"), [])
        ),
        clusters=clusters.described(read(metrics.get("clusters"), {})),
        metadata_waits_for=tuple(read(metrics.get("metadataWaitsFor"), [])),
        waiting_groups=clusters.groups(read(metrics.get("waitingGroups"), [])),
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
