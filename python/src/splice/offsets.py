# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Start and end of a Kafka source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TypeAlias

from splice.errors import OptionError

STARTING = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "committedReset",
)
"""All options that set the start of a Kafka source."""

ENDING = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")
"""All options that set the end of a Kafka source, so that it is bounded."""

_RESETS = ("earliest", "latest", "fail")
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
            raise OptionError(
                f"A timestamp of type {type(at).__name__} is not valid. "
                "Set a datetime, or milliseconds since 1970-01-01 UTC as an int."
            )
        millis = at if isinstance(at, int) else _millis(at)
        if millis < 0:
            raise OptionError(
                f"The timestamp {at!r} is before 1970, and no Kafka record has such a timestamp. "
                "Set a later time, or use OffsetsInitializer.earliest()."
            )
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
            raise OptionError(
                f"{offsets!r} has no offsets. Set {{topic: {{partition: offset}}}}, not empty."
            )
        checked = {topic: _partitions(topic, parts) for topic, parts in sorted(offsets.items())}
        return OffsetsInitializer("offsets", json.dumps(checked, separators=(",", ":")))

    @staticmethod
    def committed(reset: str = "fail") -> OffsetsInitializer:
        """Start at the committed offsets of a consumer group.

        The option ``kafka.group.id`` sets the group.

        Args:
            reset: Start of a partition without a committed offset: ``earliest``, ``latest``, or
                ``fail`` (the default), which stops the query.

        Raises:
            OptionError: if reset has another value.
        """
        if reset not in _RESETS:
            raise OptionError(
                f"'reset' is {reset!r}, which is not a valid value. "
                f"Set one of {', '.join(_RESETS)}."
            )
        return OffsetsInitializer("committed", reset)

    def starting_options(self) -> dict[str, str]:
        """Return the options for this start."""
        if self.kind == "timestamp":
            return {"startingTimestamp": self.value}
        if self.kind == "committed":
            return {"startingOffsets": "committed", "committedReset": self.value}
        return {"startingOffsets": self.value if self.kind == "offsets" else self.kind}

    def ending_options(self) -> dict[str, str]:
        """Return the options for this end.

        Raises:
            OptionError: if the value is valid only as a start.
        """
        if self.kind in ("earliest", "committed"):
            raise OptionError(
                f"A Kafka source cannot end at '{self.kind}', which is valid only as a start. "
                "Use latest, a timestamp or offsets."
            )
        if self.kind == "timestamp":
            return {"endingTimestamp": self.value}
        if self.kind == "offsets" and _EARLIEST in _numbers(self.value):
            raise OptionError(
                "A Kafka source cannot end at offset -2 (earliest), which is valid only as a "
                "start. Use -1 (latest) or an offset."
            )
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
    raise OptionError(
        f"'{word}' is {given!r}, which is not a valid position. Use 'earliest', 'latest' or one of "
        "OffsetsInitializer.earliest(), latest(), timestamp(...), offsets(...), committed(...)."
    )


def _millis(at: datetime) -> int:
    return (at.astimezone(timezone.utc) - _EPOCH) // timedelta(milliseconds=1)


def _partitions(topic: str, parts: Mapping[int, int]) -> dict[str, int]:
    if not isinstance(topic, str) or not isinstance(parts, Mapping) or not parts:
        raise OptionError(
            f"Topic {topic!r} has the offsets {parts!r}. Set {{partition: offset}} for the topic."
        )
    for partition, offset in parts.items():
        if not _whole(partition) or partition < 0 or not _whole(offset) or offset < _EARLIEST:
            raise OptionError(
                f"Topic '{topic}' has the offset {offset!r} for partition {partition!r}. Set "
                "ints: partitions from 0, offsets from 0, or -1 (latest) or -2 (earliest)."
            )
    return {str(partition): parts[partition] for partition in sorted(parts)}


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _numbers(text: str) -> set[int]:
    parsed: dict[str, dict[str, int]] = json.loads(text)
    return {offset for partitions in parsed.values() for offset in partitions.values()}
