# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""DataFrames and plans of sources, in a classic session or with Spark Connect."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import (
    IllegalArgumentException,
    PySparkRuntimeError,
    QueryExecutionException,
)

from splice._internal import jvm
from splice._internal.jars import how_to_submit, replaced_jars
from splice.errors import OptionError, SetupError, SourceError, SpliceError
from splice.queries import plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from splice.queries.plan import SourcePlan

FORMAT = "splice"

_STACK = "\n\nJVM stacktrace:\n"


def load(options: Mapping[str, str], spark: SparkSession | None, streaming: bool) -> DataFrame:
    """Load the format ``splice`` with options. The default session is the active session."""
    session = _active() if spark is None else spark
    _reject_without_jar(session)
    reader = session.readStream if streaming else session.read
    with source_errors():
        return reader.format(FORMAT).options(**options).load()


def planned(options: Mapping[str, str], spark: SparkSession | None, scan: bool) -> SourcePlan:
    """Plan a source with options. The default session is the active session."""
    session = _active() if spark is None else spark
    if not hasattr(session, "_jsparkSession"):
        raise SetupError.of("SPLICE_SETUP.PLAN_NOT_SUPPORTED")
    _reject_without_jar(session)
    with source_errors():
        return plan.read(jvm.plan(session, options, scan))


@contextmanager
def source_errors() -> Iterator[None]:
    """Convert the JVM's errors of sources to ``SourceError`` and ``OptionError``."""
    try:
        yield
    except (QueryExecutionException, IllegalArgumentException) as error:
        if isinstance(error, SpliceError) or not (error.getCondition() or "").startswith("SPLICE_"):
            raise
        of_option = isinstance(error, IllegalArgumentException)
        raise (OptionError if of_option else SourceError)(
            str(error).split(_STACK)[0],
            error.getCondition(),
            error.getMessageParameters(),
            error.getSqlState(),
        ) from None


def _reject_without_jar(session: SparkSession) -> None:
    # A Connect server reports a missing jar when it analyses the source.
    driver = jvm.running() if hasattr(session, "_jsparkSession") else None
    if driver is not None and jvm.entry_point(driver) is None:
        jars = session.sparkContext.getConf().get("spark.jars", "") or ""
        if replaced_jars(jars):
            raise SetupError.of("SPLICE_SETUP.JARS_REPLACED", jars=jars, arguments=how_to_submit())
        raise SetupError.of("SPLICE_SETUP.FORMAT_NOT_FOUND", arguments=how_to_submit())


def _active() -> SparkSession:
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError as error:
        raise SetupError.of("SPLICE_SETUP.SESSION_NOT_FOUND") from error
