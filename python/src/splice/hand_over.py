# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Hand-over rules of a hybrid source."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from splice._internal.jvm import register_rule
from splice._internal.values import duration_text, milliseconds
from splice.errors import OptionError

if TYPE_CHECKING:
    from datetime import timedelta

HandOverFunction = Callable[[dict[str, Any]], "Mapping[str, Any] | str"]


@dataclass(frozen=True)
class HandOver:
    """Rule that computes the start of a leg after the previous leg has ended.

    Create rules with the static methods. Splice evaluates a rule once, at the switch, and stores
    the start in the checkpoint.

    Examples:
        >>> from datetime import timedelta
        >>> HandOver.event_time("event_time", overlap=timedelta(minutes=10)).options()
        {'handOver': 'eventTime', 'handOver.column': 'event_time', 'handOver.overlap': '10m'}
    """

    kind: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    function: HandOverFunction | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Copy the parameters. A later change of the dictionary does not change the rule."""
        object.__setattr__(self, "parameters", dict(self.parameters))

    @staticmethod
    def offsets(
        topic: str = "topic",
        partition: str = "partition",
        offset: str = "offset",
    ) -> HandOver:
        """Start with missing offsets of the history, then one past its end, per Kafka partition.

        The query reads each row once. ``on_holes``, ``on_gap`` and ``on_duplicates`` of
        :meth:`HybridSourceBuilder.add_source` are the policies for an incomplete history. The
        columns apply to the previous legs without ``log_columns``. Without arguments, each leg
        may also have the [columns of a known writer](../hybrid.md#columns-of-known-writers).

        Args:
            topic: Column of the history with the Kafka topic, before ``select``.
            partition: Column of the history with the Kafka partition.
            offset: Column of the history with the Kafka offset.

        Examples:
            >>> HandOver.offsets(topic="t", partition="p", offset="o")
            HandOver(kind='offsets', parameters={'topic': 't', 'partition': 'p', 'offset': 'o'})
        """
        columns = {"topic": topic, "partition": partition, "offset": offset}
        given = {k: _column(k, v) for k, v in columns.items() if v != k}
        return HandOver("offsets", given)

    @staticmethod
    def event_time(column: str, overlap: timedelta | str, zone: str | None = None) -> HandOver:
        """Start at the greatest event time of the history minus an overlap: at least once.

        The query reads rows of the overlap twice, and loses rows that arrive later than the
        overlap.

        Args:
            column: The history's own timestamp column, before ``select``.
            overlap: A duration, as a timedelta or text such as ``10m``.
            zone: Time zone of the column, such as ``UTC``. A column of dates, or of timestamps
                without time zone, needs this zone.

        Examples:
            >>> rule = HandOver.event_time("event_time", overlap="10s")
            >>> both = ("order_id", "CAST(key AS STRING) AS order_id")
            >>> history.then(live, hand_over=rule, select=both).read(spark).count()
            71
        """
        return HandOver(
            "eventTime",
            {
                "column": _column("column", column),
                "overlap": duration_text("overlap", overlap),
            }
            | ({} if zone is None else {"zone": zone}),
        )

    @staticmethod
    def modification_time(overlap: timedelta | str) -> HandOver:
        """Start at the modification time of the newest file minus an overlap: at least once.

        The query reads rows of the overlap twice. The query loses rows that are older than the
        overlap and that no file contains.

        Args:
            overlap: A duration, as a timedelta or text such as ``1h``.

        Examples:
            >>> HandOver.modification_time("1h").options()
            {'handOver': 'modificationTime', 'handOver.overlap': '1h'}
        """
        return HandOver("modificationTime", {"overlap": duration_text("overlap", overlap)})

    @staticmethod
    def now_minus(duration: timedelta | str) -> HandOver:
        """Start a fixed duration before the switch, regardless of the history.

        Args:
            duration: A duration, as a timedelta or text such as ``2h``.

        Examples:
            >>> HandOver.now_minus("2h").options()
            {'handOver': 'nowMinus', 'handOver.duration': '2h'}
        """
        return HandOver("nowMinus", {"duration": duration_text("duration", duration)})

    @staticmethod
    def writer_checkpoint(checkpoint: str, source: int = 0) -> HandOver:
        """Start exactly where the Spark query that wrote the history has read Kafka to.

        The start is the end of the last batch of this query that the history contains, as its
        checkpoint has logged it. The history is a table of Delta or Iceberg, and needs no column
        with offsets.

        Args:
            checkpoint: Folder of the checkpoint of the query that has written the history.
            source: Number of the Kafka source in that query, from 0.

        Examples:
            >>> HandOver.writer_checkpoint("/checkpoints/orders").options()["handOver.checkpoint"]
            '/checkpoints/orders'
        """
        return HandOver("writerCheckpoint", {"checkpoint": checkpoint, "source": str(source)})

    @staticmethod
    def after_version() -> HandOver:
        """Start a stream of a table exactly after the version that the history has read.

        The history is a ``TableSource`` of Iceberg, and the leg is a ``StreamSource`` of the same
        table. If the table no longer has the next snapshot, ``on_gap`` of
        :meth:`HybridSourceBuilder.add_source` is the policy.

        Examples:
            >>> HandOver.after_version().options()
            {'handOver': 'afterVersion'}
        """
        return HandOver("afterVersion")

    @staticmethod
    def custom(
        rule: HandOverFunction | str,
        *,
        topic: str | None = None,
        partition: str | None = None,
        offset: str | None = None,
        column: str | None = None,
        zone: str | None = None,
    ) -> HandOver:
        """Compute the start with a function or a class of the user.

        Splice calls the rule at the switch and stores the result in the checkpoint. No restart
        calls the rule again. A function runs in the driver's process. Spark Connect supports only
        a class.

        Args:
            rule: Function that receives the evidence as a dictionary. The function returns
                ``{"offsets": {"orders": {"0": 12}}}``, the first offset to read of each
                partition, or ``{"timestamp": at}``, a time as for
                ``OffsetsInitializer.timestamp``. For a ``StreamSource``, the function returns
                ``{"position": offset}``, an offset of the stream. Alternatively the name of a
                class that implements ``splice.hybrid.HandOverRule``.
            topic: Column of the history with the Kafka topic. With any of ``topic``,
                ``partition`` and ``offset``, the evidence has the offsets of the history.
            partition: Column of the history with the Kafka partition.
            offset: Column of the history with the Kafka offset.
            column: Timestamp column of the history. With this column, the evidence has the least
                and the greatest event time.
            zone: Time zone of ``column``, as for ``event_time``.

        Examples:
            >>> def after_the_history(evidence):
            ...     return {"timestamp": evidence["eventTimes"]["last"] + 1}
            >>> rule = HandOver.custom(after_the_history, column="event_time")
            >>> both = ("order_id", "CAST(key AS STRING) AS order_id")
            >>> history.then(live, hand_over=rule, select=both).read(spark).count()
            60
        """
        columns = {"topic": topic, "partition": partition, "offset": offset, "column": column}
        counted = {k: _column(k, v) for k, v in columns.items() if v is not None}
        if zone is not None:
            counted["zone"] = zone
        if isinstance(rule, str) and rule.strip():
            return HandOver("custom", {"class": rule, **counted})
        if not callable(rule):
            raise OptionError.of("SPLICE_BUILDER.INVALID_RULE", value=repr(rule))
        name = f"{getattr(rule, '__name__', 'rule')}-{uuid4().hex[:8]}"
        return HandOver("custom", {"python": name, **counted}, rule)

    def prepare(self) -> None:
        """Register the function of a custom rule in the driver's JVM.

        Raises:
            SetupError: if this process has no JVM with Splice's jar.
        """
        function = self.function
        if function is not None:
            register_rule(self.parameters["python"], lambda found: _start(function, found))

    def options(self) -> dict[str, str]:
        """Return the options of this rule, without the name of the leg as prefix.

        Examples:
            >>> HandOver.offsets().options()
            {'handOver': 'offsets'}
        """
        return {"handOver": self.kind} | {f"handOver.{k}": v for k, v in self.parameters.items()}


def _column(parameter: str, name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise OptionError.of(
            "SPLICE_BUILDER.INVALID_COLUMN_NAME", argument=parameter, value=repr(name)
        )
    return name


def _start(function: HandOverFunction, evidence: str) -> str:
    found = function(json.loads(evidence))
    if isinstance(found, str):
        return found
    at = found.get("timestamp")
    if isinstance(at, (datetime, str)):
        found = {**found, "timestamp": milliseconds(at)}
    return json.dumps(found)
