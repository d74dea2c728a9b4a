# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""How a leg of a hybrid source takes over from the one before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from splice.duration import interval
from splice.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta


@dataclass(frozen=True)
class HandOver:
    """A rule that says where a leg starts once the leg before it has ended; made by its methods.

    A rule is asked once, at the switch; the start that it chose is kept in the checkpoint.
    """

    kind: str
    parameters: Mapping[str, str] = field(default_factory=dict)

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
            overlap: A duration, as a timedelta or a Spark interval such as ``10 minutes``.
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
            overlap: A duration, as a timedelta or a Spark interval such as ``1 hour``.
        """
        return HandOver("modificationTime", {"overlap": interval("overlap", overlap)})

    @staticmethod
    def now_minus(duration: timedelta | str) -> HandOver:
        """Starts a duration before the moment of the switch, whatever the history holds.

        Args:
            duration: A duration, as a timedelta or a Spark interval such as ``2 hours``.
        """
        return HandOver("nowMinus", {"duration": interval("duration", duration)})

    def options(self) -> dict[str, str]:
        """Gives the options that say this rule, without the name of the leg in front."""
        return {"handOver": self.kind} | {f"handOver.{k}": v for k, v in self.parameters.items()}


def _column(parameter: str, name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise OptionError(
            f"'{parameter}' is {name!r}, which names no column. "
            "Give the name of a column of the leg before."
        )
    return name
