# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Start and end of a Kafka source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TypeAlias

from splice._internal.registry import committed_policies
from splice.errors import OptionError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EARLIEST = -2


@dataclass(frozen=True)
class OffsetsInitializer:
    """Start or end of a Kafka source. Create instances with the static methods.

    The methods have the names of Flink's OffsetsInitializer (FLIP-27). Splice resolves each value
    into offsets once, at the first start of the query, and stores the offsets in the checkpoint.
    """

    kind: str
    value: str = ""

    @staticmethod
    def earliest() -> OffsetsInitializer:
        """Start at the first available record."""
        return OffsetsInitializer("earliest")

    @staticmethod
    def latest() -> OffsetsInitializer:
        """Start or end at the end of each partition at the first start of the query."""
        return OffsetsInitializer("latest")

    @staticmethod
    def timestamp(at: datetime | int) -> OffsetsInitializer:
        """Start or end at the first record whose timestamp is not before a time.

        Args:
            at: A datetime, or milliseconds since 1970-01-01 UTC. A datetime without a time zone
                is local time, as in Python and PySpark.

        Raises:
            OptionError: if the time is before 1970 or of another type.
        """
        if isinstance(at, bool) or not isinstance(at, (datetime, int)):
            raise OptionError.of("SPLICE_BUILDER.INVALID_TIMESTAMP_TYPE", type=type(at).__name__)
        millis = at if isinstance(at, int) else _millis(at)
        if millis < 0:
            raise OptionError.of("SPLICE_BUILDER.INVALID_TIMESTAMP", value=repr(at))
        return OffsetsInitializer("timestamp", str(millis))

    @staticmethod
    def offsets(offsets: Mapping[str, Mapping[int, int]]) -> OffsetsInitializer:
        """Start or end at one offset per partition.

        Args:
            offsets: The offset of each partition, by topic. An end is exclusive. -2 means
                earliest (as a start only) and -1 latest.

        Raises:
            OptionError: if a partition or an offset is not a valid number.
        """
        if not isinstance(offsets, Mapping) or not offsets:
            raise OptionError.of("SPLICE_BUILDER.INVALID_OFFSETS", value=repr(offsets))
        checked = {topic: _partitions(topic, parts) for topic, parts in sorted(offsets.items())}
        return OffsetsInitializer("offsets", json.dumps(checked, separators=(",", ":")))

    @staticmethod
    def committed(on_no_committed_offset: str = "fail") -> OffsetsInitializer:
        """Start at the committed offsets of a consumer group.

        The option ``kafka.group.id`` sets the group.

        Args:
            on_no_committed_offset: Start of a partition without a committed offset:
                ``earliest``, ``latest``, or ``fail`` (the default), which stops the query.

        Raises:
            OptionError: if on_no_committed_offset has another value.
        """
        if on_no_committed_offset not in committed_policies():
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_COMMITTED_POLICY",
                value=repr(on_no_committed_offset),
                allowed=", ".join(f"'{policy}'" for policy in committed_policies()),
            )
        return OffsetsInitializer("committed", on_no_committed_offset)

    def _starting_options(self) -> dict[str, str]:
        """Return the options for this start."""
        if self.kind == "timestamp":
            return {"startingTimestamp": self.value}
        if self.kind == "committed":
            return {"startingOffsets": "committed", "onNoCommittedOffset": self.value}
        return {"startingOffsets": self.value if self.kind == "offsets" else self.kind}

    def _ending_options(self) -> dict[str, str]:
        """Return the options for this end.

        Raises:
            OptionError: if the value is valid only as a start.
        """
        if self.kind in ("earliest", "committed"):
            raise OptionError.of("SPLICE_BUILDER.END_NOT_SUPPORTED", position=self.kind)
        if self.kind == "timestamp":
            return {"endingTimestamp": self.value}
        if self.kind == "offsets" and _EARLIEST in _numbers(self.value):
            raise OptionError.of("SPLICE_BUILDER.EARLIEST_END_NOT_SUPPORTED")
        return {"endingOffsets": self.value if self.kind == "offsets" else self.kind}


OffsetsArgument: TypeAlias = str | OffsetsInitializer


def offsets_of(word: str, given: OffsetsArgument) -> OffsetsInitializer:
    """Return the start or end of a builder's argument (starting_offsets or ending_offsets)."""
    if isinstance(given, OffsetsInitializer):
        return given
    if given == "earliest":
        return OffsetsInitializer.earliest()
    if given == "latest":
        return OffsetsInitializer.latest()
    raise OptionError.of("SPLICE_BUILDER.INVALID_POSITION", argument=word, value=repr(given))


def _millis(at: datetime) -> int:
    return (at.astimezone(timezone.utc) - _EPOCH) // timedelta(milliseconds=1)


def _partitions(topic: str, parts: Mapping[int, int]) -> dict[str, int]:
    if not isinstance(topic, str) or not isinstance(parts, Mapping) or not parts:
        raise OptionError.of(
            "SPLICE_BUILDER.INVALID_TOPIC_OFFSETS", topic=repr(topic), value=repr(parts)
        )
    for partition, offset in parts.items():
        if not _whole(partition) or partition < 0 or not _whole(offset) or offset < _EARLIEST:
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_OFFSET",
                topic=topic,
                offset=repr(offset),
                partition=repr(partition),
            )
    return {str(partition): parts[partition] for partition in sorted(parts)}


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _numbers(text: str) -> set[int]:
    parsed: dict[str, dict[str, int]] = json.loads(text)
    return {offset for partitions in parsed.values() for offset in partitions.values()}
