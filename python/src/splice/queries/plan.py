# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Plan of a query over a source."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from splice._internal import tables
from splice._internal.display.frames import frame
from splice.queries.switches import HandOverDescription, hand_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

_HEADINGS = ("leg", "source", "files", "bytes", "rows", "batches", "hand-over")
_TOPIC_HEADINGS = ("leg", "topic", "partitions", "offsets", "complete since")

_LEG_COLUMNS = (
    "leg",
    "source",
    "reads",
    "files",
    "bytes",
    "rows",
    "batches",
    "more_batches",
    "newest_file",
    "start",
    "hand_over",
)

_PARTITION_COLUMNS = ("topic", "partition", "first", "end")

_Table = tuple["Sequence[str]", "list[tuple[str, ...]]"]


@dataclass(frozen=True)
class TopicPlan:
    """Topic of a log.

    Attributes:
        name: Name of the topic; ``cluster/topic`` with many clusters.
        partitions: Number of partitions.
        offsets: Number of offsets that the log has.
        complete_since: Greatest timestamp of the partitions' first records, in ISO 8601. From this
            time on, the log has the records of all partitions.
        ranges: First offset and end offset of each partition.

    Examples:
        >>> topic = orders.plan(spark).legs[1].topics[0]
        >>> topic.name, topic.partitions, topic.ranges[0]
        ('orders', 3, (0, 20))
        >>> topic.to_pandas()
            topic  partition  first  end
        0  orders          0      0   20
        1  orders          1      0   20
        2  orders          2      0   20
    """

    name: str
    partitions: int
    offsets: int
    complete_since: str | None
    ranges: Mapping[int, tuple[int, int]]

    def to_pandas(self) -> pd.DataFrame:
        """Return the partitions as a data frame of pandas, one row per partition.

        Raises:
            SetupError: if pandas is not installed.
        """
        rows = (
            {"topic": self.name, "partition": partition, "first": first, "end": end}
            for partition, (first, end) in self.ranges.items()
        )
        return frame(rows, _PARTITION_COLUMNS)


@dataclass(frozen=True)
class LegPlan:
    """Plan of one leg. A value that is unknown is None.

    Attributes:
        name: Name of the leg; None for a source without legs.
        source: Kind of the source.
        reads: Paths or topics of the source, without secrets.
        files: Number of files.
        bytes: Size of the files.
        rows: Number of rows. For files: by the footers of up to 10,000 Parquet and ORC files. For
            Kafka: the number of offsets. Some offsets may have no record.
        batches: Number of batches that read the available rows.
        more_batches: True if the plan stopped counting batches.
        newest_file: Greatest modification time of the files, in ISO 8601.
        limits: Limits of a batch: ``rows``, ``bytes``, ``files``, ``minRows``.
        start: Start position of a log.
        topics: Topics of the log at the time of the plan.
        hand_over: Hand-over of the leg; None for the first leg.

    Examples:
        >>> first, second = orders.plan(spark, scan=True).legs
        >>> first.name, first.files, first.rows
        ('history', 4, 30)
        >>> second.start
        {'orders': {'0': 10, '1': 10, '2': 10}}
    """

    name: str | None
    source: str
    reads: str
    files: int | None
    bytes: int | None
    rows: int | None
    batches: int | None
    more_batches: bool
    newest_file: str | None
    limits: Mapping[str, int]
    start: Any
    topics: tuple[TopicPlan, ...]
    hand_over: HandOverDescription | None

    def _row(self) -> dict[str, Any]:
        values = {
            name: getattr(self, name) for name in _LEG_COLUMNS if name not in ("leg", "hand_over")
        }
        rule = None if self.hand_over is None else self.hand_over.rule
        return {"leg": self.name, **values, "hand_over": rule}

    def cells(self) -> tuple[str, ...]:
        """Return the values in the order of the headings; '-' for an unknown value."""
        batches = f"more than {self.batches}" if self.more_batches else self.batches
        rule = None if self.hand_over is None else self.hand_over.rule or "none"
        return tables.cells(
            (self.name, self.source, self.files, self.bytes, self.rows, batches, rule)
        )


@dataclass(frozen=True, repr=False)
class SourcePlan:
    """Plan of a query that starts now. The plan is shown as tables, also in notebooks.

    Attributes:
        source: Kind of the source.
        slots: Number of tasks that share the partitions of a log.
        batches: Number of batches for the available rows; None if the number depends on unread
            rows, or if the plan stopped counting.
        legs: Legs in order; one leg for a source without legs.
        warnings: Warnings about the query.

    Examples:
        >>> plan = orders.plan(spark)
        >>> [(leg.name, leg.source) for leg in plan.legs]
        [('history', 'files'), ('live', 'kafka')]
        >>> plan.warnings
        ()
        >>> plan.to_pandas()[["leg", "source", "rows"]]
               leg source  rows
        0  history  files    30
        1     live  kafka  <NA>
    """

    source: str
    slots: int
    batches: int | None
    legs: tuple[LegPlan, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all values as dicts, tuples, numbers and texts."""
        return asdict(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return the legs as a data frame of pandas, one row per leg.

        Raises:
            SetupError: if pandas is not installed.
        """
        return frame((leg._row() for leg in self.legs), _LEG_COLUMNS)

    def __repr__(self) -> str:
        """Return the tables as text."""
        lines = [self._title()]
        for title, table in self._tables():
            lines += [title] if title else []
            lines += [tables.text(*table)] if table else []
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])

    def _repr_html_(self) -> str:
        """Return the tables as HTML, for notebooks."""
        html = f"<p>{escape(self._title())}</p>"
        for title, table in self._tables():
            html += f"<p>{escape(title)}</p>" if title else ""
            html += tables.html(*table) if table else ""
        return html + "".join(f"<p>Warning: {escape(warning)}</p>" for warning in self.warnings)

    def _title(self) -> str:
        batches = "batches unknown" if self.batches is None else f"{self.batches} batches"
        return f"{self.source}, {self.slots} slots, {batches}"

    def _tables(self) -> list[tuple[str, _Table | None]]:
        found: list[tuple[str, _Table | None]] = [
            ("", (_HEADINGS, [leg.cells() for leg in self.legs]))
        ]
        topics = [
            tables.cells((leg.name, of.name, of.partitions, of.offsets, of.complete_since))
            for leg in self.legs
            for of in leg.topics
        ]
        if topics:
            found.append(("", (_TOPIC_HEADINGS, topics)))
        switches = [leg.hand_over for leg in self.legs if leg.hand_over is not None]
        return found + [(one.title(), one.table()) for one in switches]


def read(text: str) -> SourcePlan:
    """Parse the JSON of a plan."""
    found = json.loads(text)
    return SourcePlan(
        found["source"],
        found["slots"],
        found.get("batches"),
        tuple(_leg(leg) for leg in found["legs"]),
        tuple(found["warnings"]),
    )


def _leg(found: Mapping[str, Any]) -> LegPlan:
    switch = found.get("handOver")
    return LegPlan(
        found.get("leg"),
        found["source"],
        found["reads"],
        found.get("files"),
        found.get("bytes"),
        found.get("rows"),
        found.get("batches"),
        found.get("moreBatches", False),
        found.get("newestFile"),
        found.get("limits", {}),
        found.get("start"),
        tuple(_topic(name, topic) for name, topic in found.get("topics", {}).items()),
        None if switch is None else hand_over(found["leg"], switch),
    )


def _topic(name: str, found: Mapping[str, Any]) -> TopicPlan:
    return TopicPlan(
        name,
        found["partitions"],
        found["offsets"],
        found.get("completeSince"),
        {int(partition): (first, end) for partition, (first, end) in found["ranges"].items()},
    )
