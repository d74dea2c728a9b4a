# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Base classes of the Kafka sources, with a start and an optional end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from splice._internal.registry import ending, starting
from splice._internal.values import flat, plain
from splice.errors import OptionError
from splice.offsets import OffsetsArgument, offsets_of
from splice.source import SourceBuilder, SourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

    from pyspark.sql.types import StructType
    from typing_extensions import Self

    from splice._internal.values import Names, OptionValue


class LogSource(SourceSpec):
    """Source of Kafka topics on one or several clusters."""

    @property
    def bounded(self) -> bool:
        """True if an option sets an end."""
        return bool(self._options.named(*ending()))

    @property
    def _start_is_set(self) -> bool:
        """True if an option sets a start."""
        return bool(self._options.named(*starting()))


BuiltLogSource = TypeVar("BuiltLogSource", bound=LogSource)


class LogSourceBuilder(SourceBuilder[BuiltLogSource]):
    """Base class of the builders of Kafka sources."""

    def starting_offsets(self, start: OffsetsArgument) -> Self:
        """Return a builder with a start on every cluster.

        The default is latest for a stream and earliest for a batch. A leg with a hand-over
        accepts no start.

        Args:
            start: ``"earliest"``, ``"latest"``, ``"committed"``, an OffsetsInitializer, or a time:
                a datetime with a time zone, or ISO 8601 text with a time zone.

        Examples:
            >>> from datetime import datetime, timezone
            >>> KafkaSource.builder().starting_offsets(datetime(2026, 1, 31, tzinfo=timezone.utc))
            KafkaSourceBuilder(startingTimestamp='1769817600000')
        """
        options = offsets_of("starting_offsets", start)._starting_options()
        return self._with(options, without=starting())

    def ending_offsets(self, end: OffsetsArgument) -> Self:
        """Return a builder with an end on every cluster, so that the source is bounded.

        By default, the source has no end.

        Args:
            end: The same values as for ``starting_offsets``, except earliest. Records at the end
                and after the end are not read.

        Examples:
            >>> base = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")
            >>> base.ending_offsets("latest").build().bounded
            True
        """
        options = offsets_of("ending_offsets", end)._ending_options()
        return self._with(options, without=ending())

    def commit_to_group(self, group: str) -> Self:
        """Return a builder that commits offsets to a consumer group on every cluster.

        Splice commits the offsets of each batch that Spark has committed. Tools that show lag read
        the offsets of the group. These offsets are never ahead of the checkpoint. The query begins
        at these offsets only if its start is ``OffsetsInitializer.committed()``.

        Args:
            group: The id of the group, the option ``kafka.group.id``.

        Examples:
            >>> KafkaSource.builder().commit_to_group("report")
            KafkaSourceBuilder(kafka.group.id='report', commitToGroup='true')
        """
        if not isinstance(group, str) or not group.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_GROUP", value=repr(group))
        return self._with({"kafka.group.id": group, "commitToGroup": True})

    def admission(self, policy: Literal["lag", "equal", "eventTime"]) -> Self:
        """Return a builder with the policy that shares a limited batch among partitions.

        Args:
            policy: ``lag`` (default): in proportion to the backlogs. ``equal``: the same share for
                every partition. ``eventTime``: a batch ends at one timestamp in all partitions, so
                that a backfill makes no row late for a watermark on the column ``timestamp``.

        Examples:
            >>> KafkaSource.builder().admission("eventTime")
            KafkaSourceBuilder(admission='eventTime')
        """
        return self._with({"admission": policy})

    def max_ahead(self, time: timedelta | str) -> Self:
        """Return a builder with the greatest distance of a timestamp from the driver's clock.

        ``on_future_time`` applies to later records. The default is one minute. The option needs
        the policy ``eventTime`` of ``admission``.

        Args:
            time: A timedelta, or text such as ``30s``.

        Examples:
            >>> KafkaSource.builder().admission("eventTime").max_ahead("30s")
            KafkaSourceBuilder(admission='eventTime', maxAhead='30s')
        """
        return self._with({"maxAhead": time})

    def on_future_time(self, policy: Literal["fail", "hold", "read"]) -> Self:
        """Return a builder with the policy for a record that is too far in the future.

        The option needs the policy ``eventTime`` of ``admission``.

        Args:
            policy: ``fail``: the query ends with an error. ``hold`` (default): the partition waits
                before the record. ``read``: the partition is read without regard to its times from
                this record on.

        Examples:
            >>> KafkaSource.builder().admission("eventTime").on_future_time("fail")
            KafkaSourceBuilder(admission='eventTime', onFutureTime='fail')
        """
        return self._with({"onFutureTime": policy})

    def properties(self, properties: Mapping[str, OptionValue]) -> Self:
        """Return a builder with properties of the Kafka client of every cluster.

        Args:
            properties: Kafka's names such as ``security.protocol``, with or without the prefix
                ``kafka.``, and values.

        Examples:
            >>> KafkaSource.builder().properties({"ssl.key.password": "s3cret"})
            KafkaSourceBuilder(kafka.ssl.key.password='*********(redacted)')
        """
        return self._with(
            {
                f"kafka.{plain(name).removeprefix('kafka.')}": value
                for name, value in properties.items()
            }
        )

    def json_values(
        self,
        schema: StructType | str,
        *,
        on_error: Literal["fail", "null", "corrupt"] | None = None,
        **options: OptionValue,
    ) -> Self:
        """Return a builder that parses the values of records as JSON, into a struct ``value``.

        Args:
            schema: Fields of the values: DDL such as ``id BIGINT, name STRING``, or a StructType.
            on_error: Policy for a value that is not valid: ``fail`` (default) stops the query,
                ``null`` returns a null value, and ``corrupt`` also returns the record in the
                column ``_corrupt``.
            options: Options of Spark's ``from_json``, such as ``timestampFormat``.

        Examples:
            >>> builder = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")
            >>> values = builder.json_values("amount DOUBLE", on_error="corrupt").build()
            >>> values.read(spark).select("value.amount").orderBy("amount").first()
            Row(amount=0.0)
        """
        policy: dict[str, OptionValue] = {} if on_error is None else {"onParseError": on_error}
        of_format = {f"value.{name}": value for name, value in options.items()}
        return self._with({"valueFormat": "json", "valueSchema": schema, **policy, **of_format})

    def _exactly_one(self, names: tuple[str, ...], what: str, methods: str) -> None:
        given = self._options.named(*names)
        if len(given) != 1 or not self._options[given[0]].strip():
            selected = ", ".join(f"'{name}'" for name in given) or "none"
            raise OptionError.of(
                "SPLICE_BUILDER.AMBIGUOUS_SELECTION",
                source=what,
                options=", ".join(names),
                found=selected,
                methods=methods,
            )


def brokers(given: tuple[Names, ...]) -> str:
    """Return addresses of brokers as text with commas.

    Raises:
        OptionError: if an address is not a text.
    """
    addresses = list(flat(given))
    for address in addresses:
        if not isinstance(address, str):
            raise OptionError.of("SPLICE_BUILDER.INVALID_SERVER", value=repr(address))
    return ",".join(str(address) for address in addresses)


def listed(names: tuple[Names, ...], rejected: Callable[[object], OptionError]) -> str:
    """Return names of topics or streams as text with commas."""
    found = list(flat(names))
    for name in found:
        if not isinstance(name, str) or not name.strip() or "," in name:
            raise rejected(name)
    return ",".join(plain(name) for name in found)
