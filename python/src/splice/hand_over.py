# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""How a leg of a hybrid source takes over from the one before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from splice.duration import interval
from splice.errors import OptionError
from splice.jvm import register_rule

if TYPE_CHECKING:
    from datetime import timedelta

HandOverFunction = Callable[[dict[str, Any]], "Mapping[str, Any] | str"]


@dataclass(frozen=True)
class HandOver:
    """A rule that says where a leg starts once the leg before it has ended; made by its methods.

    A rule is asked once, at the switch; the start that it chose is kept in the checkpoint.
    """

    kind: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    function: HandOverFunction | None = field(default=None, repr=False)

    @staticmethod
    def offsets(
        topic: str = "topic",
        partition: str = "partition",
        offset: str = "offset",
        timestamp: str | None = None,
        key: str | None = None,
    ) -> HandOver:
        """Starts with what the history lacks, then one past its end, per Kafka partition.

        Each row comes once. ``on_holes``, ``on_gap`` and ``on_duplicates`` of
        :meth:`HybridSourceBuilder.add_source` are the policies for a history that is not whole.
        The columns are those of the legs before that have no ``log_columns`` of their own.

        Args:
            topic: The history's own column with the Kafka topic, before ``select``.
            partition: The history's own column with the Kafka partition.
            offset: The history's own column with the Kafka offset.
            timestamp: The history's own column with the timestamp of the Kafka record. Splice
                compares it with the log before the switch. By default it is not compared.
            key: The history's own column with the key of the Kafka record, compared in the same
                way.
        """
        columns = {"topic": topic, "partition": partition, "offset": offset}
        given = {k: _column(k, v) for k, v in columns.items() if v != k}
        compared = {"timestamp": timestamp, "key": key}
        given |= {k: _column(k, v) for k, v in compared.items() if v is not None}
        return HandOver("offsets", given)

    @staticmethod
    def event_time(column: str, overlap: timedelta | str) -> HandOver:
        """Starts at the history's greatest event time minus an overlap: at least once.

        Rows of the overlap are read twice; rows that came later than the overlap are lost.

        Args:
            column: The history's own timestamp column, before ``select``.
            overlap: A duration, as a timedelta or text such as ``10m``.
        """
        return HandOver(
            "eventTime",
            {
                "column": _column("column", column),
                "overlap": interval("overlap", overlap),
            },
        )

    @staticmethod
    def modification_time(overlap: timedelta | str) -> HandOver:
        """Starts at the newest file's modification time minus an overlap: at least once.

        Rows of the overlap are read twice; rows older than the overlap when their file was
        written, and not in it, are lost.

        Args:
            overlap: A duration, as a timedelta or text such as ``1h``.
        """
        return HandOver("modificationTime", {"overlap": interval("overlap", overlap)})

    @staticmethod
    def now_minus(duration: timedelta | str) -> HandOver:
        """Starts a duration before the moment of the switch, whatever the history holds.

        Args:
            duration: A duration, as a timedelta or text such as ``2h``.
        """
        return HandOver("nowMinus", {"duration": interval("duration", duration)})

    @staticmethod
    def custom(
        rule: HandOverFunction | str,
        *,
        topic: str | None = None,
        partition: str | None = None,
        offset: str | None = None,
        column: str | None = None,
    ) -> HandOver:
        """Computes the start by a function or a class of the user.

        Splice calls the rule at the switch and stores the result in the checkpoint. No restart
        calls it again. A function runs in the driver's process, and not with Spark Connect.

        Args:
            rule: A function that takes the evidence as a dictionary. It returns
                ``{"offsets": {"orders": {"0": 12}}}``, the first offset to read of each
                partition, or ``{"timestamp": 1732190400000}``, a time in milliseconds. Or the
                name of a class that implements ``splice.hybrid.HandOverRule``.
            topic: The history's own column with the Kafka topic. With any of ``topic``,
                ``partition`` and ``offset`` the evidence has the offsets of the history.
            partition: The history's own column with the Kafka partition.
            offset: The history's own column with the Kafka offset.
            column: The history's own timestamp column. With it the evidence has the least and
                the greatest event time.
        """
        columns = {"topic": topic, "partition": partition, "offset": offset, "column": column}
        counted = {k: _column(k, v) for k, v in columns.items() if v is not None}
        if isinstance(rule, str) and rule.strip():
            return HandOver("custom", {"class": rule, **counted})
        if not callable(rule):
            raise OptionError.of("SPLICE_BUILDER.INVALID_RULE", value=repr(rule))
        name = f"{getattr(rule, '__name__', 'rule')}-{uuid4().hex[:8]}"
        return HandOver("custom", {"python": name, **counted}, rule)

    def prepare(self) -> None:
        """Registers the function of a custom rule in the driver's JVM.

        Raises:
            SetupError: where this process has no JVM that has Splice's jar.
        """
        function = self.function
        if function is not None:
            register_rule(self.parameters["python"], lambda found: _start(function, found))

    def options(self) -> dict[str, str]:
        """Gives the options that say this rule, without the name of the leg in front."""
        return {"handOver": self.kind} | {f"handOver.{k}": v for k, v in self.parameters.items()}


def _column(parameter: str, name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise OptionError.of(
            "SPLICE_BUILDER.INVALID_COLUMN_NAME", argument=parameter, value=repr(name)
        )
    return name


def _start(function: HandOverFunction, evidence: str) -> str:
    found = function(json.loads(evidence))
    return found if isinstance(found, str) else json.dumps(found)
