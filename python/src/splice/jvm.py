# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The one narrow place where Python meets the running JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from splice.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from py4j.java_gateway import JavaClass, JVMView


def running() -> JVMView | None:
    """Gives this process's driver JVM, or None where none was started (as with Spark Connect)."""
    try:
        # Absent from an installation for Spark Connect only.
        from pyspark import SparkContext
    except ImportError:
        return None
    return SparkContext._jvm


def connect() -> JVMView | None:
    """Gives the JVM that spark-submit started for this process, connecting to it first."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    return running()


def entry_point(jvm: JVMView) -> JavaClass | None:
    """Gives Splice's entry point in the JVM, or None where its jar is not on the class path."""
    from py4j.java_gateway import JavaClass

    found = jvm.splice.spark.PythonApi
    return found if isinstance(found, JavaClass) else None


def check(options: Mapping[str, str]) -> None:
    """Lets the JVM check options; does nothing without a classic session that has the jar.

    Raises:
        OptionError: with the message of the JVM.
    """
    jvm = running() if _session_lives() else None
    api = None if jvm is None else entry_point(jvm)
    if api is None:
        return
    message = api.check(dict(options))
    if message:
        raise OptionError(message)


def own_message(error: Exception) -> str | None:
    """Gives the message of an exception that Splice threw in the JVM and PySpark does not know."""
    thrown = getattr(error, "java_exception", None)
    if thrown is None or not thrown.getClass().getName().startswith("splice."):
        return None
    return str(thrown.getMessage())


def _session_lives() -> bool:
    try:
        from pyspark import SparkContext
    except ImportError:
        return False
    return SparkContext._active_spark_context is not None
