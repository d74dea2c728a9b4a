# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Base classes of all sources and their builders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from splice._internal import jvm
from splice._internal.display import sources
from splice._internal.option_map import OptionMap
from splice._internal.reading import load, planned
from splice._internal.registry import chain_options
from splice._internal.secrets import shown
from splice.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self

    from splice._internal.leg import LegColumns, LegSelects
    from splice._internal.values import OptionValue
    from splice.hand_over import HandOver
    from splice.hybrid import HybridSource
    from splice.queries.plan import SourcePlan


class SourceSpec(ABC):
    """Source that a query reads as a stream or as a bounded batch; a builder creates it.

    A source consists of options and is immutable, so several sessions and threads can read the
    source several times. A notebook shows a source as a table of its options. The text and the
    table hide secret values.

    Examples:
        >>> isinstance(history, SourceSpec), history.bounded, live.bounded
        (True, True, False)
        >>> history
        FileSource(format='parquet', path='/lake/orders')
    """

    kind: ClassVar[str]

    def __init__(self, options: Mapping[str, str]) -> None:
        """Create a source with checked options; use a builder instead."""
        self._options = OptionMap(options)

    @property
    @abstractmethod
    def bounded(self) -> bool:
        """True if the source has an end, so that another leg can follow."""

    def options(self) -> dict[str, str]:
        """Return the options of this source for ``format("splice")``, including secrets.

        Examples:
            >>> history.options()
            {'source': 'files', 'format': 'parquet', 'path': '/lake/orders'}
            >>> spark.read.format("splice").options(**history.options()).load().count()
            30
        """
        return {"source": self.kind, **self._options}

    def then(
        self,
        following: SourceSpec,
        *,
        hand_over: HandOver | None = None,
        select: LegSelects = None,
        names: tuple[str, str] = ("history", "live"),
        on_holes: str | None = None,
        on_gap: str | None = None,
        on_duplicates: str | None = None,
        log_columns: LegColumns = None,
    ) -> HybridSource:
        """Return a hybrid source, which reads this source to its end and then the next source.

        The result is equal to the result of ``HybridSource.builder(...).add_source(...).build()``.
        ``then`` of the result appends further sources.

        Args:
            following: The next source. This source must be bounded.
            hand_over: Rule for the start of the next source. The default is the start of the
                source. A source with an explicit start accepts no hand-over.
            select: SELECT list of deterministic row expressions for both sources. Alternatively a
                pair of lists, or a mapping from the name of a leg to its list. The default is all
                columns. Both legs must result in the same columns.
            names: Names of the two legs, the prefixes of their options and the values of ``_leg``.
            on_holes: With ``HandOver.offsets``: policy for missing offsets of the history, as in
                :meth:`HybridSourceBuilder.add_source`.
            on_gap: Policy for records that neither the history nor the log has: ``fail`` (default)
                or ``warn``.
            on_duplicates: With ``HandOver.offsets``: policy for records that the history has
                several times: ``fail`` (default) or ``warn``.
            log_columns: Columns of this source that identify the record of the log, as in
                :meth:`HybridSourceBuilder.add_source`. A pair also sets the columns of the next
                source, for a later hand-over.

        Raises:
            OptionError: if an argument is invalid, or the legs do not fit together.

        Examples:
            >>> chain = history.then(
            ...     live,
            ...     hand_over=HandOver.offsets(),
            ...     select={"history": "order_id", "live": "CAST(key AS STRING) AS order_id"},
            ...     on_gap="warn",
            ... )
            >>> chain
            HybridSource
            ├─ history  files  parquet  /lake/orders  select order_id
            └─ live     kafka  orders @ broker:9092   select CAST(key AS STRING) AS order_id
                 ↳ hand-over: offsets, on gap: warn
                 ↳ options: valueFormat='json', valueSchema='amount DOUBLE'
        """
        from splice.hybrid import joined

        return joined(
            (self, following),
            names,
            hand_over,
            select,
            {"on_holes": on_holes, "on_gap": on_gap, "on_duplicates": on_duplicates},
            log_columns,
        )

    def read_stream(self, spark: SparkSession | None = None) -> DataFrame:
        """Read the source as a stream.

        Args:
            spark: The session to read with; by default the active one.

        Raises:
            OptionError: if an option is invalid.
            SourceError: if the source cannot be read, for example because its path does not exist.
            SetupError: if no session is active, or Splice's jar is not on its class path.

        Examples:
            >>> orders.read_stream(spark).isStreaming
            True
        """
        self._prepare()
        return load(self.options(), spark, streaming=True)

    def read(self, spark: SparkSession | None = None) -> DataFrame:
        """Read all available rows of the source as a bounded batch.

        Args:
            spark: The session to read with; by default the active one.

        Raises:
            OptionError: if an option is invalid.
            SourceError: if the source cannot be read, for example because its path does not exist.
            SetupError: if no session is active, or Splice's jar is not on its class path.

        Examples:
            >>> orders.read(spark).columns
            ['order_id', 'amount']
            >>> orders.read(spark).count()
            60
        """
        self._prepare()
        return load(self.options(), spark, streaming=False)

    def plan(self, spark: SparkSession | None = None, scan: bool = False) -> SourcePlan:
        """Return the plan of a query over the source that starts now.

        The method lists files, reads the footers of Parquet and ORC files, and sends requests to
        servers. The method starts no query and writes nothing.

        Args:
            spark: A classic session. The default is the active session.
            scan: True to run a Spark job that reads the columns of hand-over rules. The plan then
                has the result of each rule, such as the hand-over table of ``offsets``.

        Raises:
            OptionError: if an option is invalid.
            SourceError: if the query could not start, for example because a topic does not exist.
            SetupError: if no classic session is active, or Splice's jar is not on its class path.

        Examples:
            >>> orders.plan(spark, scan=True)
            hybrid, ... slots, 2 batches
            leg      source  files  bytes  rows  batches  hand-over
            history  files   4      ...    30    1        -
            live     kafka   -      -      30    1        ...
            >>> orders.plan(spark, scan=True).legs[1].hand_over.rows[0]["start"]
            10
        """
        self._prepare()
        return planned(self.options(), spark, scan)

    def _prepare(self) -> None:
        """Register callbacks before the options are loaded. Most sources have no callbacks."""
        return

    def __repr__(self) -> str:
        """Return the options as text, with secret values hidden."""
        return f"{type(self).__name__}({shown(self._options)})"

    def _repr_html_(self) -> str:
        """Return the options as an HTML table for notebooks, with secret values hidden."""
        return sources.html(type(self).__name__, self._options)


BuiltSource = TypeVar("BuiltSource", bound=SourceSpec)


class SourceBuilder(ABC, Generic[BuiltSource]):
    """Base class of builders, which collect the options of a source.

    A builder is immutable. Each method returns a new builder and does not change its own builder,
    so several sources can have one builder as their base.
    """

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Create a builder with options."""
        self._options = OptionMap(options)

    def option(self, name: str, value: OptionValue) -> Self:
        """Return a builder with an option, as in ``format("splice").option(...)``.

        Args:
            name: Case-insensitive name of the option.
            value: A value, which replaces a previous value. Splice converts a ``StructType`` to
                DDL, a ``timedelta`` to a duration, and a ``datetime`` with a time zone to the
                format of the option. A list of strings becomes text with commas or, for ``paths``,
                a JSON array.

        Raises:
            OptionError: if the value is of another type, or is not valid text of an option.

        Examples:
            >>> from datetime import timedelta
            >>> from pyspark.sql.types import LongType, StructField, StructType
            >>> builder = KafkaSource.builder().option("discoveryInterval", timedelta(minutes=1))
            >>> builder.option("valueSchema", StructType([StructField("id", LongType())]))
            KafkaSourceBuilder(discoveryInterval='1m', valueSchema='`id` BIGINT')
        """
        return self._with({name: value})

    def options(
        self, options: Mapping[str, OptionValue] | None = None, /, **more: OptionValue
    ) -> Self:
        """Return a builder with several options, as ``option`` does.

        Args:
            options: Options by name, for names with dots.
            more: Further options.

        Examples:
            >>> KafkaSource.builder().options({"kafka.client.id": "report"}, includeHeaders=True)
            KafkaSourceBuilder(kafka.client.id='report', includeHeaders='true')
        """
        return self._with({**(options or {}), **more})

    def build(self) -> BuiltSource:
        """Check the options and create the source.

        Python makes the checks that need no JVM. If a JVM with Splice's jar is running, it checks
        all options. ``read`` and ``read_stream`` repeat every check.

        Raises:
            OptionError: if an option is missing or invalid, or contradicts another option.

        Examples:
            >>> try:
            ...     KafkaSource.builder().topics("orders").build()
            ... except OptionError as error:
            ...     print(error.getCondition(), error.getMessageParameters())
            SPLICE_BUILDER.SERVERS_NOT_SET {'option': 'kafka.bootstrap.servers'}
        """
        source = self._make()
        jvm.check(source.options())
        return source

    @abstractmethod
    def _make(self) -> BuiltSource:
        """Make the checks of Python and create the source."""

    def _with(self, options: Mapping[str, OptionValue], without: Iterable[str] = ()) -> Self:
        changed = copy(self)
        changed._options = self._options.updated(options, without)
        return changed

    def _reject_chain_options(self, legs: Collection[str] = ()) -> None:
        for name in self._options:
            first, dot, _ = name.lower().partition(".")
            of_leg = dot and first in {leg.lower() for leg in legs}
            if not of_leg and first in {chain.lower() for chain in chain_options()}:
                raise OptionError.of("SPLICE_BUILDER.OPTION_OF_HYBRID", option=name)

    def __repr__(self) -> str:
        """Return the options as text, with secret values hidden."""
        return f"{type(self).__name__}({shown(self._options)})"
