# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What all sources and their builders have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from splice import jvm
from splice.errors import OptionError
from splice.option_map import OptionMap, OptionValue
from splice.reading import load, planned
from splice.registry import CHAIN_OPTIONS
from splice.secrets import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self

    from splice.plan import SourcePlan


class SourceSpec(ABC):
    """Something that can be read as a stream or as a bounded batch; made by a builder.

    A source holds nothing but its options and never changes, so it can be read many times, by
    many sessions and from many threads.
    """

    kind: ClassVar[str]

    def __init__(self, options: Mapping[str, str]) -> None:
        """Takes checked options; use a builder instead."""
        self._options = OptionMap(options)

    @property
    @abstractmethod
    def bounded(self) -> bool:
        """Whether the source comes to an end, so that another one can follow it."""

    def options(self) -> dict[str, str]:
        """Gives the options that say this source to ``format("splice")``, secrets included."""
        return {"source": self.kind, **self._options}

    def read_stream(self, spark: SparkSession | None = None) -> DataFrame:
        """Reads the source as a stream.

        Args:
            spark: The session to read with; by default the active one.

        Raises:
            IllegalArgumentException: if the options are refused (of pyspark.errors).
            SourceError: if the source cannot be read, for example because nothing is at its path.
            SetupError: if there is no session, or Splice's jar is not on its class path.
        """
        self._prepare()
        return load(self.options(), spark, streaming=True)

    def read(self, spark: SparkSession | None = None) -> DataFrame:
        """Reads the source as a bounded batch: all that is there when the read begins.

        Args:
            spark: The session to read with; by default the active one.

        Raises:
            IllegalArgumentException: if the options are refused (of pyspark.errors).
            SourceError: if the source cannot be read, for example because nothing is at its path.
            SetupError: if there is no session, or Splice's jar is not on its class path.
        """
        self._prepare()
        return load(self.options(), spark, streaming=False)

    def plan(self, spark: SparkSession | None = None, scan: bool = False) -> SourcePlan:
        """Return the plan of a query over the source that starts now.

        It lists files, reads the footers of Parquet and ORC files, and sends requests to servers.
        It starts no query and writes nothing.

            print(orders.plan(spark))

        Args:
            spark: The session to plan with; by default the active one. A classic session.
            scan: Whether a Spark job reads the columns that hand-over rules need. The plan then
                has the result of each rule, such as the hand-over table of ``offsets``.

        Raises:
            IllegalArgumentException: if the options are refused (of pyspark.errors).
            SourceError: if the query could not start, for example because a topic does not exist.
            SetupError: if there is no classic session, or Splice's jar is not on its class path.
        """
        self._prepare()
        return planned(self.options(), spark, scan)

    def _prepare(self) -> None:
        """Does what options cannot say, before they are read; nothing, for most sources."""
        return

    def __repr__(self) -> str:
        """Shows the options, with secret values hidden."""
        return f"{type(self).__name__}({shown(self._options)})"


BuiltSource = TypeVar("BuiltSource", bound=SourceSpec)


class SourceBuilder(ABC, Generic[BuiltSource]):
    """Collects the options of a source and checks them in ``build()``."""

    def __init__(self) -> None:
        """Starts without options."""
        self._options = OptionMap()

    def option(self, name: str, value: OptionValue) -> Self:
        """Sets an option by its name, as in ``format("splice").option(...)``.

        Args:
            name: The option; its case does not matter.
            value: A string, a boolean or a number. The last value set counts.

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
        """Checks the options and makes the source.

        What needs no JVM is checked always; where one already runs with Splice's jar, it checks
        all the rest. Reading the source repeats every check.

        Raises:
            OptionError: if an option is missing, wrong or contradicts another one.
        """
        source = self._make()
        jvm.check(source.options())
        return source

    @abstractmethod
    def _make(self) -> BuiltSource:
        """Checks what can be checked in Python and makes the source."""

    def _refuse_chain_options(self, legs: Collection[str] = ()) -> None:
        for name in self._options:
            first, dot, _ = name.lower().partition(".")
            of_leg = dot and first in {leg.lower() for leg in legs}
            if not of_leg and first in {chain.lower() for chain in CHAIN_OPTIONS}:
                raise OptionError.of("SPLICE_BUILDER.OPTION_OF_HYBRID", option=name)
