# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""DataFrames and plans of sources, in a classic session or with Spark Connect."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PySparkRuntimeError, QueryExecutionException

from splice import jvm, plan
from splice.errors import SetupError, SourceError
from splice.jars import how_to_submit, replaced_jars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from splice.plan import SourcePlan

FORMAT = "splice"

_STACK = "\n\nJVM stacktrace:\n"


def load(options: Mapping[str, str], spark: SparkSession | None, streaming: bool) -> DataFrame:
    """Load the format ``splice`` with options. The default session is the active session."""
    session = _active() if spark is None else spark
    _refuse_without_jar(session)
    reader = session.readStream if streaming else session.read
    with source_errors():
        return reader.format(FORMAT).options(**options).load()


def planned(options: Mapping[str, str], spark: SparkSession | None, scan: bool) -> SourcePlan:
    """Plan a source with options. The default session is the active session."""
    session = _active() if spark is None else spark
    if not hasattr(session, "_jsparkSession"):
        raise SetupError(
            "plan(...) needs a classic Spark session in this process. With Spark Connect, start "
            "the query with a new checkpoint and use describe(query)."
        )
    _refuse_without_jar(session)
    with source_errors():
        return plan.read(jvm.plan(session, options, scan))


@contextmanager
def source_errors() -> Iterator[None]:
    """Convert the JVM's errors of sources to ``SourceError``."""
    try:
        yield
    except QueryExecutionException as error:
        if not (error.getCondition() or "").startswith("SPLICE_"):
            raise
        raise SourceError(str(error).split(_STACK)[0]) from None


def _refuse_without_jar(session: SparkSession) -> None:
    # A Connect server reports a missing jar when it analyses the source.
    driver = jvm.running() if hasattr(session, "_jsparkSession") else None
    if driver is not None and jvm.entry_point(driver) is None:
        jars = session.sparkContext.getConf().get("spark.jars", "") or ""
        if replaced_jars(jars):
            raise SetupError(
                f"This session does not have the format 'splice': its 'spark.jars' is '{jars}', "
                "without Splice's jar. config('spark.jars', ...) after configure(builder) replaces "
                "the jars that configure() appends. Set 'spark.jars' first, and call "
                f"configure(builder) last, or start the session by spark-submit with "
                f"{how_to_submit()}."
            )
        raise SetupError(
            "This session does not have the format 'splice', because Splice's jar is not on its "
            "class path. Create the session with configure(builder), or start it by spark-submit "
            f"with {how_to_submit()}."
        )


def _active() -> SparkSession:
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError as error:
        raise SetupError(
            "No Spark session is active. Create a session with "
            "configure(SparkSession.builder).getOrCreate(), or pass a session: read_stream(spark)."
        ) from error
