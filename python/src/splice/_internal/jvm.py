# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""All calls from Python to the running JVM."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pyspark.errors import PySparkException

from splice.errors import OptionError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from py4j.java_gateway import JavaClass, JVMView
    from pyspark.sql import SparkSession


def running() -> JVMView | None:
    """Return this process's driver JVM, or None without a JVM (as with Spark Connect)."""
    try:
        # An installation for Spark Connect only does not have SparkContext.
        from pyspark import SparkContext
    except ImportError:
        return None
    return SparkContext._jvm


def connect() -> JVMView | None:
    """Connect to the JVM that spark-submit started for this process, and return it."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    return running()


def errors() -> tuple[type[Exception], ...]:
    """Return the class of the errors of calls to a JVM; nothing without py4j (Spark Connect)."""
    try:
        from py4j.protocol import Py4JError
    except ImportError:
        return ()
    return (Py4JError,)


def error_text(error: Exception) -> str | None:
    """Return the text of an error of a call to a JVM; None for any other error."""
    if not isinstance(error, errors()):
        return None
    java: object = getattr(error, "java_exception", None)
    return f"{type(error).__name__}: {error}" if java is None else str(java)


def entry_point(jvm: JVMView) -> JavaClass | None:
    """Return Splice's entry point in the JVM, or None if its jar is not on the class path."""
    from py4j.java_gateway import JavaClass

    found = jvm.splice.spark.internal.python.PythonApi
    return found if isinstance(found, JavaClass) else None


def check(options: Mapping[str, str]) -> None:
    """Check options in the JVM, if a classic session with the jar exists.

    Raises:
        OptionError: with the message, condition, parameters and SQLSTATE of the JVM.
    """
    api = _found()
    if api is None:
        return
    found = api.check(dict(options))
    if found:
        error = json.loads(found)
        raise OptionError(
            error["message"], error["condition"], error["parameters"], error["sqlState"]
        )


def history(spark: SparkSession, checkpoint: str) -> str:
    """Return the events of sources in a checkpoint, as a JSON array of objects.

    Raises:
        SetupError: if the session is not classic, or this process has no JVM with Splice's jar.
    """
    api = _required("query_history(...)", hasattr(spark, "_jsparkSession"))
    return str(api.history(spark._jsparkSession, checkpoint))


def unavailable() -> tuple[type[Exception], ...]:
    """Return the errors of a session, a server or a storage that does not respond."""
    return (PySparkException, OSError, *errors())


def history_of(query: str) -> str:
    """Return the events of a query of this process, or an empty array for other queries."""
    api = _found()
    return "[]" if api is None else str(api.historyOf(query))


def plan(spark: SparkSession, options: Mapping[str, str], scan: bool) -> str:
    """Return the plan of a query over a source, as a JSON object.

    Raises:
        SetupError: if this process has no JVM with Splice's jar.
    """
    api = _required("plan(...)")
    return str(api.plan(spark._jsparkSession, dict(options), scan))


def checkpoint(command: str, folder: str, arguments: Mapping[str, object]) -> str:
    """Run a command for a checkpoint, and return its result as a JSON object.

    Raises:
        SetupError: if this process has no JVM with Splice's jar.
    """
    api = _required("splice checkpoint")
    return str(api.checkpoint(command, folder, json.dumps(arguments)))


def create_file(spark: SparkSession, file: str) -> None:
    """Create an empty file with the atomic creation that a query uses for its checkpoint.

    Raises:
        SetupError: if this process has no JVM with Splice's jar.
        QueryExecutionException: if the storage has no atomic creation (of pyspark.errors).
    """
    _required("splice doctor").createFile(spark._jsparkSession, file)


def _required(name: str, is_classic: bool = True) -> JavaClass:
    api = _found()
    if api is None or not is_classic:
        raise SetupError.of("SPLICE_SETUP.CLASSIC_SESSION_NOT_FOUND", function=name)
    return api


def _found() -> JavaClass | None:
    driver = running() if _session_lives() else None
    return None if driver is None else entry_point(driver)


def register_metadata(name: str, document: Callable[[], str]) -> None:
    """Register a metadata service in the driver's JVM, which calls it on a separate thread.

    Raises:
        SetupError: if this process has no JVM with Splice's jar.
    """
    jvm = _with_callbacks(
        "A metadata service in Python",
        "With Spark Connect, use metadata_file(...) or metadata_url(...).",
    )
    callbacks = jvm.splice.kafka.dynamic.internal.metadata.MetadataCallbacks
    callbacks.register(name, _MetadataCallback(document))


def register_rule(name: str, start: Callable[[str], str]) -> None:
    """Register a hand-over rule in the driver's JVM, which calls it on the query's thread.

    Raises:
        SetupError: if this process has no JVM with Splice's jar.
    """
    jvm = _with_callbacks(
        "HandOver.custom(...) with a function",
        "With Spark Connect, set the name of a class on the server's class path.",
    )
    rules = jvm.splice.hybrid.internal.options.HandOverRules
    rules.register(name, _HandOverRule(start))


def _with_callbacks(feature: str, alternative: str) -> JVMView:
    jvm = running() if _session_lives() else None
    if jvm is None or entry_point(jvm) is None:
        raise SetupError.of(
            "SPLICE_SETUP.CALLBACK_NOT_SUPPORTED", feature=feature, alternative=alternative
        )
    from pyspark import SparkContext
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(SparkContext._gateway)  # type: ignore[no-untyped-call]
    return jvm


class _MetadataCallback:
    """Implementation of the JVM's interface of a metadata service by a function."""

    def __init__(self, document: Callable[[], str]) -> None:
        self.document = document

    class Java:
        implements: ClassVar = ["splice.kafka.dynamic.internal.metadata.MetadataCallback"]


class _HandOverRule:
    """Implementation of the JVM's interface of a hand-over rule by a function."""

    def __init__(self, start: Callable[[str], str]) -> None:
        self.start = start

    class Java:
        implements: ClassVar = ["splice.hybrid.HandOverRule"]


def _session_lives() -> bool:
    try:
        from pyspark import SparkContext
    except ImportError:
        return False
    return SparkContext._active_spark_context is not None
