# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Events of the sources of a query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from datetime import datetime, timedelta, timezone
from html import escape
from typing import TYPE_CHECKING, Any, overload

from splice._internal import jvm, tables
from splice._internal.display.frames import frame
from splice._internal.reading import source_errors

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame, SparkSession

_SCHEMA = (
    "source STRING NOT NULL, change BIGINT NOT NULL, at TIMESTAMP, generation BIGINT, "
    "event STRING NOT NULL, names ARRAY<STRING> NOT NULL"
)

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SHOWN = 50


@dataclass(frozen=True)
class HistoryEvent:
    """Event of a source of a query.

    Attributes:
        source: Number of the source, with the leg of a hybrid source.
        change: Number of the change, which increases.
        at: Time of the event in UTC; None if unknown.
        generation: Generation of the metadata of the change; None without metadata.
        event: Kind of the event, such as ``handOver`` or ``topicAdded``.
        names: Names of the clusters, streams or topics of the event; for a switch, its rule.

    Examples:
        >>> event = query_history(spark, "/checkpoints/copy")[-1]
        >>> event.source, event.event, event.names
        ('0/leg-live', 'handOver', ('handOver=offsets handOver.topic=topic ...',))
    """

    source: str
    change: int
    at: datetime | None
    generation: int | None
    event: str
    names: tuple[str, ...]


_COLUMNS = tuple(field.name for field in fields(HistoryEvent))


class QueryHistory:
    """Events of the sources of a query, oldest first, as ``query_history`` returns them.

    The history is shown as a table, also in notebooks, and is a sequence of :class:`HistoryEvent`.
    The history has all methods and columns of its DataFrame, such as ``where`` and ``show``.

    Examples:
        >>> history_of_copy = query_history(spark, "/checkpoints/copy")
        >>> history_of_copy.where("event = 'handOver'").count()
        1
        >>> [event.at.year > 2000 for event in history_of_copy]
        [True]
        >>> history_of_copy.to_pandas()[["source", "event"]]
               source     event
        0  0/leg-live  handOver
    """

    def __init__(self, spark: SparkSession, events: tuple[HistoryEvent, ...]) -> None:
        """Create a history; use ``query_history`` instead."""
        self._spark = spark
        self._events = events

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._events)

    def __iter__(self) -> Iterator[HistoryEvent]:
        """Iterate over the events, oldest first."""
        return iter(self._events)

    @overload
    def __getitem__(self, key: int) -> HistoryEvent: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[HistoryEvent, ...]: ...

    @overload
    def __getitem__(self, key: str) -> Column: ...

    def __getitem__(
        self, key: int | slice | str
    ) -> HistoryEvent | tuple[HistoryEvent, ...] | Column:
        """Return the event at a position, the events of a slice, or a column by its name.

        The position -1 is the newest event.
        """
        return self.to_df()[key] if isinstance(key, str) else self._events[key]

    def to_df(self) -> DataFrame:
        """Return the events as a DataFrame of Spark."""
        rows = [(*astuple(event)[:-1], list(event.names)) for event in self._events]
        return self._spark.createDataFrame(rows, _SCHEMA)

    def to_pandas(self) -> pd.DataFrame:
        """Return the events as a data frame of pandas.

        Raises:
            SetupError: if pandas is not installed.
        """
        rows = (dict(zip(_COLUMNS, astuple(event), strict=True)) for event in self._events)
        return frame(rows, _COLUMNS)

    def __getattr__(self, name: str) -> Any:
        """Return a method or a column of the DataFrame."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.to_df(), name)

    def __repr__(self) -> str:
        """Return the events as a table, with at most the 50 newest events."""
        return f"{self._title()}\n{tables.text(_COLUMNS, self._cells())}"

    def _repr_html_(self) -> str:
        """Return the events as an HTML table, with at most the 50 newest events."""
        return f"<p>{escape(self._title())}</p>{tables.html(_COLUMNS, self._cells())}"

    def _title(self) -> str:
        count = "1 event" if len(self) == 1 else f"{len(self)} events"
        return count if len(self._events) <= _SHOWN else f"{count}, the newest {_SHOWN}:"

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            tables.cells(
                (
                    event.source,
                    event.change,
                    None if event.at is None else event.at.isoformat(),
                    event.generation,
                    event.event,
                    ", ".join(event.names) or None,
                )
            )
            for event in self._events[-_SHOWN:]
        ]


def query_history(spark: SparkSession, checkpoint: str) -> QueryHistory:
    """Return the events of the query's sources in a checkpoint, oldest first.

    The events of a source over many clusters include clusters and topics that were added, removed,
    drained or added again. The query may be running.

    Args:
        spark: A classic session in this process, with the settings of the checkpoint's storage.
        checkpoint: Folder of the query's option ``checkpointLocation``.

    Returns:
        The events, with the columns ``source``, ``change`` (a number that increases), ``at``,
        ``generation`` (of the metadata of the change), ``event`` and ``names``.

    Raises:
        SetupError: if the session is not classic, or this process has no JVM with Splice's jar.
        SourceError: if the folder has no checkpoint.

    Examples:
        >>> query_history(spark, "/checkpoints/copy")
        1 event
        source      change  at   generation  event     names
        0/leg-live  0       ...  -           handOver  handOver=offsets ...
    """
    with source_errors():
        events = json.loads(jvm.history(spark, checkpoint))
    return QueryHistory(spark, tuple(_event(event) for event in events))


def _event(event: dict[str, Any]) -> HistoryEvent:
    at = event.get("at")
    return HistoryEvent(
        event["source"],
        event["change"],
        None if at is None else _EPOCH + timedelta(microseconds=at),
        event.get("generation"),
        event["event"],
        tuple(event["names"]),
    )
