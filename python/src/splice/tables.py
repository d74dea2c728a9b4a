# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of a table that Spark can read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from splice._internal.values import duration_text
from splice.errors import OptionError
from splice.source import SourceBuilder, SourceSpec


class TableSource(SourceSpec):
    """Source of one version of a table or a view, such as a table of Delta, Iceberg or JDBC.

    The source is bounded. The first start of a query fixes the version of the table.

    Examples:
        >>> source = TableSource.format("parquet").option("path", "/lake/orders")
        >>> source.on_no_version("warn").build().read(spark).count()
        30
    """

    kind = "table"

    @property
    def bounded(self) -> bool:
        """Always True, because the source does not read later versions of the table."""
        return True

    @staticmethod
    def table(table: str) -> TableSourceBuilder:
        """Return a builder for a table or a view in a catalog of Spark.

        Args:
            table: Name such as ``lake.sales.orders``.

        Raises:
            OptionError: if the name is empty or not a text.

        Examples:
            >>> TableSource.table("lake.sales.orders").version_as_of(12)
            TableSourceBuilder(table='lake.sales.orders', versionAsOf='12')
        """
        return TableSourceBuilder({"table": _text("table", table)})

    @staticmethod
    def format(format: str) -> TableSourceBuilder:  # noqa: A002 (Spark's name)
        """Return a builder for a table that options of its format locate.

        Args:
            format: Format of ``spark.read``, such as ``delta``, ``iceberg`` or ``jdbc``.

        Raises:
            OptionError: if the format is empty or not a text.

        Examples:
            >>> TableSource.format("delta").option("path", "/lake/orders")
            TableSourceBuilder(format='delta', path='/lake/orders')
        """
        return TableSourceBuilder({"format": _text("format", format)})


class TableSourceBuilder(SourceBuilder[TableSource]):
    """Builder of a TableSource. Spark's reader receives all options that Splice does not have.

    Examples:
        >>> base = TableSource.table("lake.sales.orders")
        >>> base.slice_by("day").slice_every("1d")
        TableSourceBuilder(table='lake.sales.orders', sliceBy='day', sliceEvery='1d')
        >>> base
        TableSourceBuilder(table='lake.sales.orders')
    """

    def where(self, predicate: str) -> TableSourceBuilder:
        """Return a builder with a SQL predicate that the rows must fulfil.

        Examples:
            >>> source = TableSource.format("parquet").option("path", "/lake/orders")
            >>> source.where("partition = 1").on_no_version("warn").build().read(spark).count()
            10
        """
        return self.option("where", predicate)

    def version_as_of(self, version: str | int) -> TableSourceBuilder:
        """Return a builder with the version to read.

        The default is the current version at the first start of the query.

        Args:
            version: A version of Delta, or a snapshot id, a branch or a tag of Iceberg.

        Examples:
            >>> TableSource.table("lake.sales.orders").version_as_of("end-of-2025")
            TableSourceBuilder(table='lake.sales.orders', versionAsOf='end-of-2025')
        """
        return self.option("versionAsOf", version)

    def timestamp_as_of(self, time: str | datetime) -> TableSourceBuilder:
        """Return a builder with the time whose version is read.

        Args:
            time: A datetime with a time zone, or text such as ``2026-11-01 00:00:00``. Text without
                a time zone is a time in the time zone of the session.

        Raises:
            OptionError: if a datetime has no time zone.

        Examples:
            >>> from datetime import datetime, timezone
            >>> at = datetime(2026, 11, 1, tzinfo=timezone.utc)
            >>> TableSource.table("lake.sales.orders").timestamp_as_of(at)
            TableSourceBuilder(table='lake.sales.orders', timestampAsOf='2026-11-01T00:00:00Z')
        """
        return self.option("timestampAsOf", time)

    def on_no_version(self, policy: Literal["fail", "warn"]) -> TableSourceBuilder:
        """Return a builder with a policy for a table without versions, such as a table of JDBC.

        Args:
            policy: ``fail`` (default) raises an error. ``warn`` logs a warning and reads the table.
                A batch that is repeated after a failure may then have other rows.

        Examples:
            >>> TableSource.format("jdbc").option("dbtable", "orders").on_no_version("warn")
            TableSourceBuilder(format='jdbc', dbtable='orders', onNoVersion='warn')
        """
        return self.option("onNoVersion", policy)

    def slice_by(self, column: str) -> TableSourceBuilder:
        """Return a builder with the column whose values divide the table into slices.

        The default is the first partition column of the table.

        Examples:
            >>> TableSource.table("lake.sales.orders").slice_by("order_id").slices(100)
            TableSourceBuilder(table='lake.sales.orders', sliceBy='order_id', slices='100')
        """
        return self.option("sliceBy", column)

    def slice_every(self, width: str | float | timedelta) -> TableSourceBuilder:
        """Return a builder with the width of a slice in the values of ``slice_by``.

        Args:
            width: A timedelta, or text such as ``1d``, for dates and timestamps. A number for
                numbers.

        Raises:
            OptionError: if a timedelta is negative.

        Examples:
            >>> from datetime import timedelta
            >>> orders = TableSource.table("lake.sales.orders")
            >>> orders.slice_by("day").slice_every(timedelta(days=1))
            TableSourceBuilder(table='lake.sales.orders', sliceBy='day', sliceEvery='24h')
        """
        text = duration_text("width", width) if isinstance(width, timedelta) else width
        return self.option("sliceEvery", text)

    def slices(self, number: int) -> TableSourceBuilder:
        """Return a builder with the number of slices of equal width, from 1 to 10000.

        Examples:
            >>> TableSource.table("lake.sales.orders").slice_by("amount").slices(10)
            TableSourceBuilder(table='lake.sales.orders', sliceBy='amount', slices='10')
        """
        return self.option("slices", number)

    def max_bytes_per_trigger(self, size: str | int) -> TableSourceBuilder:
        """Return a builder with the maximum size of a batch, which has at least one slice.

        Args:
            size: Bytes, or text such as ``8g``.

        Examples:
            >>> TableSource.table("lake.sales.orders").max_bytes_per_trigger("8g")
            TableSourceBuilder(table='lake.sales.orders', maxBytesPerTrigger='8g')
        """
        return self.option("maxBytesPerTrigger", size)

    def _make(self) -> TableSource:
        self._reject_chain_options()
        return TableSource(self._options)


def _text(argument: str, value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise OptionError.of("SPLICE_BUILDER.TABLE_NOT_SET", argument=argument, value=repr(value))
