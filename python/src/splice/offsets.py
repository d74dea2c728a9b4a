# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Where a Kafka source starts or ends."""

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
    "onNoCommittedOffset",
)
"""Every option that fixes the start of a Kafka source."""

ENDING = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")
"""Every option that fixes the end of a Kafka source, and so makes it bounded."""

_RESETS = ("earliest", "latest", "fail")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EARLIEST = -2


@dataclass(frozen=True)
class OffsetsInitializer:
    """Says where a Kafka source starts or ends; made by its static methods.

    The words are those of Flink's OffsetsInitializer (FLIP-27). Whatever is said here is turned
    into fixed offsets once, when the query first starts, and remembered in its checkpoint.
    """

    kind: str
    value: str = ""

    @staticmethod
    def earliest() -> OffsetsInitializer:
        """Starts at the first record that Kafka still holds."""
        return OffsetsInitializer("earliest")

    @staticmethod
    def latest() -> OffsetsInitializer:
        """Starts, or ends, at the end of each partition as it is when the query first starts."""
        return OffsetsInitializer("latest")

    @staticmethod
    def timestamp(at: datetime | int) -> OffsetsInitializer:
        """Starts, or ends, at the first record whose timestamp is not before the given one.

        Args:
            at: A datetime, or milliseconds since 1970-01-01 UTC. A datetime without a time zone
                is local time, as everywhere in Python and PySpark.

        Raises:
            OptionError: if it lies before 1970 or is of another type.
        """
        if isinstance(at, bool) or not isinstance(at, (datetime, int)):
            raise OptionError(
                f"A timestamp of type {type(at).__name__} cannot be read. "
                "Give a datetime, or milliseconds since 1970-01-01 UTC as an int."
            )
        millis = at if isinstance(at, int) else _millis(at)
        if millis < 0:
            raise OptionError(
                f"The timestamp {at!r} lies before 1970, where no Kafka record can be. "
                "Give a later one, or use OffsetsInitializer.earliest()."
            )
        return OffsetsInitializer("timestamp", str(millis))

    @staticmethod
    def offsets(offsets: Mapping[str, Mapping[int, int]]) -> OffsetsInitializer:
        """Starts, or ends, at an offset for each partition.

        Args:
            offsets: For each topic the offset of each partition; the end is exclusive. -2 means
                earliest (as a start only) and -1 latest.

        Raises:
            OptionError: if a partition or an offset is not such a number.
        """
        if not isinstance(offsets, Mapping) or not offsets:
            raise OptionError(
                f"{offsets!r} names no offsets. Give {{topic: {{partition: offset}}}}, not empty."
            )
        checked = {topic: _partitions(topic, parts) for topic, parts in sorted(offsets.items())}
        return OffsetsInitializer("offsets", json.dumps(checked, separators=(",", ":")))

    @staticmethod
    def committed(reset: str = "fail") -> OffsetsInitializer:
        """Starts at the offsets that the consumer group has committed.

        The group is named by the option ``kafka.group.id``.

        Args:
            reset: Where a partition without a committed offset starts: ``earliest``,
                ``latest``, or ``fail`` (the default), which stops the query.

        Raises:
            OptionError: if reset is another word.
        """
        if reset not in _RESETS:
            raise OptionError(
                f"'reset' is {reset!r}, which committed offsets do not know. "
                f"Give one of {', '.join(_RESETS)}."
            )
        return OffsetsInitializer("committed", reset)

    def starting_options(self) -> dict[str, str]:
        """Gives the options that say this as a start."""
        if self.kind == "timestamp":
            return {"startingTimestamp": self.value}
        if self.kind == "committed":
            return {"startingOffsets": "committed", "onNoCommittedOffset": self.value}
        return {"startingOffsets": self.value if self.kind == "offsets" else self.kind}

    def ending_options(self) -> dict[str, str]:
        """Gives the options that say this as an end.

        Raises:
            OptionError: if it can be a start only.
        """
        if self.kind in ("earliest", "committed"):
            raise OptionError(
                f"A Kafka source cannot end at '{self.kind}', which is a place to start from. "
                "End at latest, at a timestamp or at offsets."
            )
        if self.kind == "timestamp":
            return {"endingTimestamp": self.value}
        if self.kind == "offsets" and _EARLIEST in _numbers(self.value):
            raise OptionError(
                "A Kafka source cannot end at offset -2 (earliest), which is a place to start "
                "from. End at -1 (latest) or at an offset."
            )
        return {"endingOffsets": self.value if self.kind == "offsets" else self.kind}


OffsetsArgument: TypeAlias = str | OffsetsInitializer


def offsets_of(word: str, given: OffsetsArgument) -> OffsetsInitializer:
    """Reads what a builder was given as its ``word`` (starting_offsets or ending_offsets)."""
    if isinstance(given, OffsetsInitializer):
        return given
    if given == "earliest":
        return OffsetsInitializer.earliest()
    if given == "latest":
        return OffsetsInitializer.latest()
    raise OptionError(
        f"'{word}' is {given!r}, which is no position. Give 'earliest', 'latest' or one of "
        "OffsetsInitializer.earliest(), latest(), timestamp(...), offsets(...), committed(...)."
    )


def _millis(at: datetime) -> int:
    return (at.astimezone(timezone.utc) - _EPOCH) // timedelta(milliseconds=1)


def _partitions(topic: str, parts: Mapping[int, int]) -> dict[str, int]:
    if not isinstance(topic, str) or not isinstance(parts, Mapping) or not parts:
        raise OptionError(
            f"Topic {topic!r} has {parts!r} for its offsets. Give {{partition: offset}} for it."
        )
    for partition, offset in parts.items():
        if not _whole(partition) or partition < 0 or not _whole(offset) or offset < _EARLIEST:
            raise OptionError(
                f"Topic '{topic}' has the offset {offset!r} for partition {partition!r}. Give "
                "ints: partitions from 0, offsets from 0, or -1 (latest) or -2 (earliest)."
            )
    return {str(partition): parts[partition] for partition in sorted(parts)}


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _numbers(text: str) -> set[int]:
    parsed: dict[str, dict[str, int]] = json.loads(text)
    return {offset for partitions in parsed.values() for offset in partitions.values()}
