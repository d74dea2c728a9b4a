# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Where a running query stands."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.streaming.query import StreamingQuery

_HEADINGS = ("leg", "position", "splits", "rows behind", "bytes behind", "switches")


@dataclass(frozen=True)
class SourceDescription:
    """Where one source of a query stands, as of its last progress report.

    Attributes:
        leg: The leg that is being read; None where the source has no legs.
        position: How far the leg has been read, in its own words.
        splits: How many splits the leg has.
        rows_behind: Rows still to be read, as far as they are known.
        bytes_behind: Bytes still to be read, as far as they are known.
        switches: How many times one leg has taken over from another.
        end_offset: The offset that the last batch ended at, as it is in the checkpoint.
    """

    leg: str | None
    position: str | None
    splits: int | None
    rows_behind: int | None
    bytes_behind: int | None
    switches: int | None
    end_offset: str | None

    def cells(self) -> tuple[str, ...]:
        """Gives the values in the order of the table's headings; '-' for what is not known."""
        values = (
            self.leg,
            self.position,
            self.splits,
            self.rows_behind,
            self.bytes_behind,
            self.switches,
        )
        return tuple("-" if value is None else str(value) for value in values)


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
        rows = [_HEADINGS, *(source.cells() for source in self.sources)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self._title(), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        """Gives the table as HTML, for notebooks."""
        if not self.sources:
            return f"<p>{escape(self._title())}: {self._nothing()}</p>"
        head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in source.cells()) + "</tr>"
            for source in self.sources
        )
        return (
            f"<table><caption>{escape(self._title())}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

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
    )


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
