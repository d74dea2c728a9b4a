# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Base classes of all sources and their builders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from splice._internal import jvm
from splice._internal.option_map import OptionMap, OptionValue
from splice._internal.reading import load, planned
from splice._internal.registry import chain_options
from splice._internal.secrets import shown
from splice.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self

    from splice.queries.plan import SourcePlan


class SourceSpec(ABC):
    """Source that a query reads as a stream or as a bounded batch; a builder creates it.

    A source consists of options and is immutable, so several sessions and threads can read the
    source several times.
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
        """Return the options of this source for ``format("splice")``, including secrets."""
        return {"source": self.kind, **self._options}

    def read_stream(self, spark: SparkSession | None = None) -> DataFrame:
        """Read the source as a stream.

        Args:
            spark: The session to read with; by default the active one.

        Raises:
            IllegalArgumentException: if an option is invalid (of pyspark.errors).
            SourceError: if the source cannot be read, for example because its path does not exist.
            SetupError: if no session is active, or Splice's jar is not on its class path.
        """
        self._prepare()
        return load(self.options(), spark, streaming=True)

    def read(self, spark: SparkSession | None = None) -> DataFrame:
        """Read all available rows of the source as a bounded batch.

        Args:
            spark: The session to read with; by default the active one.

        Raises:
            IllegalArgumentException: if an option is invalid (of pyspark.errors).
            SourceError: if the source cannot be read, for example because its path does not exist.
            SetupError: if no session is active, or Splice's jar is not on its class path.
        """
        self._prepare()
        return load(self.options(), spark, streaming=False)

    def plan(self, spark: SparkSession | None = None, scan: bool = False) -> SourcePlan:
        """Return the plan of a query over the source that starts now.

        The method lists files, reads the footers of Parquet and ORC files, and sends requests to
        servers. The method starts no query and writes nothing.

            print(orders.plan(spark))

        Args:
            spark: A classic session. The default is the active session.
            scan: True to run a Spark job that reads the columns of hand-over rules. The plan then
                has the result of each rule, such as the hand-over table of ``offsets``.

        Raises:
            IllegalArgumentException: if an option is invalid (of pyspark.errors).
            SourceError: if the query could not start, for example because a topic does not exist.
            SetupError: if no classic session is active, or Splice's jar is not on its class path.
        """
        self._prepare()
        return planned(self.options(), spark, scan)

    def _prepare(self) -> None:
        """Register callbacks before the options are loaded. Most sources have no callbacks."""
        return

    def __repr__(self) -> str:
        """Return the options as text, with secret values hidden."""
        return f"{type(self).__name__}({shown(self._options)})"


BuiltSource = TypeVar("BuiltSource", bound=SourceSpec)


class SourceBuilder(ABC, Generic[BuiltSource]):
    """Base class of builders, which collect the options of a source."""

    def __init__(self) -> None:
        """Create a builder without options."""
        self._options = OptionMap()

    def option(self, name: str, value: OptionValue) -> Self:
        """Set an option by its name, as in ``format("splice").option(...)``.

        Args:
            name: Case-insensitive name of the option.
            value: A string, a boolean or a number, which replaces a previous value.

        Raises:
            OptionError: if the value is of another type.
        """
        self._options.set(name, value)
        return self

    def options(
        self, options: Mapping[str, OptionValue] | None = None, /, **more: OptionValue
    ) -> Self:
        """Sets several options, as ``option`` does.

        Args:
            options: Options by name, for names with dots.
            more: Further options.
        """
        for name, value in {**(options or {}), **more}.items():
            self.option(name, value)
        return self

    def build(self) -> BuiltSource:
        """Check the options and create the source.

        Python makes the checks that need no JVM. If a JVM with Splice's jar is running, it checks
        all options. ``read`` and ``read_stream`` repeat every check.

        Raises:
            OptionError: if an option is missing or invalid, or contradicts another option.
        """
        source = self._make()
        jvm.check(source.options())
        return source

    @abstractmethod
    def _make(self) -> BuiltSource:
        """Make the checks of Python and create the source."""

    def _reject_chain_options(self, legs: Collection[str] = ()) -> None:
        for name in self._options:
            first, dot, _ = name.lower().partition(".")
            of_leg = dot and first in {leg.lower() for leg in legs}
            if not of_leg and first in {chain.lower() for chain in chain_options()}:
                raise OptionError.of("SPLICE_BUILDER.OPTION_OF_HYBRID", option=name)
