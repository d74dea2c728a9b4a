# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of any stream of Spark."""

from __future__ import annotations

from splice.errors import OptionError
from splice.source import SourceBuilder, SourceSpec


class StreamSource(SourceSpec):
    """Source of any Data Source V2 micro-batch stream of Spark, such as a Python data source.

    Examples:
        >>> ticks = StreamSource.builder("rate-micro-batch").option("rowsPerBatch", 5)
        >>> ticks.build().read(spark).columns
        ['timestamp', 'value']
    """

    kind = "stream"

    @property
    def bounded(self) -> bool:
        """True if the stream ends, so that another leg can follow."""
        given = self._options.named("bounded")
        return bool(given) and self._options[given[0]].strip().lower() == "true"

    @staticmethod
    def builder(format: str) -> StreamSourceBuilder:  # noqa: A002 (Spark's name)
        """Return a builder for a stream of a format.

        Args:
            format: Format as in ``spark.readStream.format``, such as ``iceberg``, ``rate`` or the
                name of a Python data source that the session has registered.

        Examples:
            >>> StreamSource.builder("rate").option("rowsPerSecond", 10)
            StreamSourceBuilder(format='rate', rowsPerSecond='10')
        """
        return StreamSourceBuilder({"format": format})

    @staticmethod
    def table(name: str) -> StreamSourceBuilder:
        """Return a builder for a stream over a table of a catalog.

        Args:
            name: Name as in ``spark.readStream.table``.

        Examples:
            >>> StreamSource.table("lake.sales.orders")
            StreamSourceBuilder(table='lake.sales.orders')
        """
        return StreamSourceBuilder({"table": name})


class StreamSourceBuilder(SourceBuilder[StreamSource]):
    """Builder of a StreamSource. The stream receives all options that Splice does not have.

    Examples:
        >>> stream = StreamSource.builder("rate-micro-batch").option("rowsPerBatch", 5)
        >>> stream.bounded().build().bounded, stream.build().bounded
        (True, False)
    """

    def bounded(self) -> StreamSourceBuilder:
        """Return a builder of a stream that ends, as a leg before another leg needs.

        The stream ends when Splice has read all rows that were available at the start of a run.
        The format must support ``Trigger.AvailableNow``.

        Examples:
            >>> StreamSource.table("lake.sales.orders").bounded()
            StreamSourceBuilder(table='lake.sales.orders', bounded='true')
        """
        return self.option("bounded", True)

    def _make(self) -> StreamSource:
        self._reject_chain_options()
        given = self._options.named("format", "table")
        if len(given) != 1 or not self._options[given[0]].strip():
            raise OptionError.of(
                "SPLICE_BUILDER.AMBIGUOUS_SELECTION",
                source="stream source",
                options="format, table",
                found=", ".join(f"'{name}'" for name in given) or "none",
                methods="StreamSource.builder(format) or StreamSource.table(name)",
            )
        return StreamSource(self._options)
