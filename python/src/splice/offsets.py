# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Start and end of a Kafka source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from splice._internal.registry import committed_policies
from splice._internal.values import TimeArgument, milliseconds, parsed_time, plain
from splice.errors import OptionError

_EARLIEST = -2


@dataclass(frozen=True)
class OffsetsInitializer:
    """Start or end of a Kafka source. Create instances with the static methods.

    The methods have the names of Flink's OffsetsInitializer (FLIP-27). Splice resolves each value
    into offsets once, at the first start of the query, and stores the offsets in the checkpoint.

    Examples:
        >>> at = OffsetsInitializer.timestamp("2026-01-01T00:00:30Z")
        >>> base = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")
        >>> base.starting_offsets(at).build().read(spark).count()
        30
        >>> base.ending_offsets(at).build().read(spark).count()
        30
    """

    kind: str
    value: str = ""

    @staticmethod
    def earliest() -> OffsetsInitializer:
        """Start at the first available record.

        Examples:
            >>> OffsetsInitializer.earliest()
            OffsetsInitializer(kind='earliest', value='')
        """
        return OffsetsInitializer("earliest")

    @staticmethod
    def latest() -> OffsetsInitializer:
        """Start or end at the end of each partition at the first start of the query.

        Examples:
            >>> KafkaSource.builder().ending_offsets(OffsetsInitializer.latest())
            KafkaSourceBuilder(endingOffsets='latest')
        """
        return OffsetsInitializer("latest")

    @staticmethod
    def timestamp(at: TimeArgument) -> OffsetsInitializer:
        """Start or end at the first record whose timestamp is not before a time.

        Args:
            at: A datetime with a time zone, ISO 8601 text with a time zone, or milliseconds since
                1970-01-01 UTC.

        Raises:
            OptionError: if the time has no time zone, is before 1970, or is of another type.

        Examples:
            >>> from datetime import datetime, timezone
            >>> OffsetsInitializer.timestamp(datetime(2026, 1, 31, tzinfo=timezone.utc))
            OffsetsInitializer(kind='timestamp', value='1769817600000')
            >>> OffsetsInitializer.timestamp("2026-01-31T00:00:00Z").value
            '1769817600000'
            >>> try:
            ...     OffsetsInitializer.timestamp(datetime(2026, 1, 31))
            ... except OptionError as error:
            ...     print(error.getCondition())
            SPLICE_BUILDER.TIME_ZONE_NOT_SET
        """
        return OffsetsInitializer("timestamp", str(milliseconds(at)))

    @staticmethod
    def timestamps(times: Mapping[str, Mapping[int, TimeArgument]]) -> OffsetsInitializer:
        """Start or end at one time per partition.

        Args:
            times: The time of each partition, by topic; times as for ``timestamp``. The mapping
                must have each partition that the source reads.

        Raises:
            OptionError: if a partition or a time is invalid.

        Examples:
            >>> times = {"orders": {0: "2026-01-01T00:00:30Z", 1: 0, 2: 0}}
            >>> base = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")
            >>> start = OffsetsInitializer.timestamps(times)
            >>> base.starting_offsets(start).build().read(spark).count()
            50
        """
        if not isinstance(times, Mapping) or not times:
            raise OptionError.of("SPLICE_BUILDER.INVALID_OFFSETS", value=repr(times))
        checked = {topic: _times(topic, parts) for topic, parts in sorted(times.items())}
        return OffsetsInitializer("timestamps", json.dumps(checked, separators=(",", ":")))

    @staticmethod
    def offsets(offsets: Mapping[str, Mapping[int, int]]) -> OffsetsInitializer:
        """Start or end at one offset per partition.

        Args:
            offsets: The offset of each partition, by topic. An end is exclusive. -2 means
                earliest (as a start only) and -1 latest.

        Raises:
            OptionError: if a partition or an offset is not a valid number.

        Examples:
            >>> start = OffsetsInitializer.offsets({"orders": {0: 15, 1: -2, 2: 20}})
            >>> base = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")
            >>> base.starting_offsets(start).build().read(spark).count()
            25
        """
        if not isinstance(offsets, Mapping) or not offsets:
            raise OptionError.of("SPLICE_BUILDER.INVALID_OFFSETS", value=repr(offsets))
        checked = {topic: _partitions(topic, parts) for topic, parts in sorted(offsets.items())}
        return OffsetsInitializer("offsets", json.dumps(checked, separators=(",", ":")))

    @staticmethod
    def committed(on_no_committed_offset: str = "fail") -> OffsetsInitializer:
        """Start or end at the committed offsets of a consumer group.

        The option ``kafka.group.id`` sets the group.

        Args:
            on_no_committed_offset: Start of a partition without a committed offset:
                ``earliest``, ``latest``, or ``fail`` (the default), which stops the query. An end
                accepts only ``fail``.

        Raises:
            OptionError: if on_no_committed_offset has another value.

        Examples:
            >>> base = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")
            >>> base = base.option("kafka.group.id", "report")
            >>> start = OffsetsInitializer.committed("earliest")
            >>> base.starting_offsets(start).build().read(spark).count()
            60
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
        if self.kind == "timestamps":
            return {"startingOffsetsByTimestamp": self.value}
        if self.kind == "committed":
            return {"startingOffsets": "committed", "onNoCommittedOffset": self.value}
        return {"startingOffsets": self.value if self.kind == "offsets" else self.kind}

    def _ending_options(self) -> dict[str, str]:
        """Return the options for this end.

        Raises:
            OptionError: if the value is valid only as a start.
        """
        if self.kind == "earliest" or (self.kind == "committed" and self.value != "fail"):
            position = self.kind if self.kind == "earliest" else f"committed({self.value!r})"
            raise OptionError.of("SPLICE_BUILDER.END_NOT_SUPPORTED", position=position)
        if self.kind == "timestamp":
            return {"endingTimestamp": self.value}
        if self.kind == "timestamps":
            return {"endingOffsetsByTimestamp": self.value}
        if self.kind == "offsets" and _EARLIEST in _numbers(self.value):
            raise OptionError.of("SPLICE_BUILDER.EARLIEST_END_NOT_SUPPORTED")
        return {"endingOffsets": self.value if self.kind == "offsets" else self.kind}


OffsetsArgument: TypeAlias = str | datetime | OffsetsInitializer


def offsets_of(argument: str, given: OffsetsArgument) -> OffsetsInitializer:
    """Return the start or end of a builder's argument (starting_offsets or ending_offsets)."""
    if isinstance(given, OffsetsInitializer):
        return given
    if isinstance(given, str) and given in _WORDS:
        return _WORDS[given]()
    if isinstance(given, datetime) or (isinstance(given, str) and parsed_time(given) is not None):
        return OffsetsInitializer.timestamp(given)
    raise OptionError.of("SPLICE_BUILDER.INVALID_POSITION", argument=argument, value=repr(given))


_WORDS = {
    "earliest": OffsetsInitializer.earliest,
    "latest": OffsetsInitializer.latest,
    "committed": OffsetsInitializer.committed,
}


def _times(topic: str, parts: Mapping[int, TimeArgument]) -> dict[str, int]:
    if not isinstance(parts, Mapping):
        return _partitions(topic, parts)
    return _partitions(topic, {partition: milliseconds(at) for partition, at in parts.items()})


def _partitions(topic: str, parts: Mapping[int, int]) -> dict[str, int]:
    if not isinstance(topic, str) or not isinstance(parts, Mapping) or not parts:
        raise OptionError.of(
            "SPLICE_BUILDER.INVALID_TOPIC_OFFSETS", topic=repr(topic), value=repr(parts)
        )
    numbers = {plain(partition): plain(offset) for partition, offset in parts.items()}
    for partition, offset in numbers.items():
        if not _whole(partition) or partition < 0 or not _whole(offset) or offset < _EARLIEST:
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_OFFSET",
                topic=topic,
                offset=repr(offset),
                partition=repr(partition),
            )
    return {str(partition): numbers[partition] for partition in sorted(numbers)}


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _numbers(text: str) -> set[int]:
    parsed: dict[str, dict[str, int]] = json.loads(text)
    return {offset for partitions in parsed.values() for offset in partitions.values()}
