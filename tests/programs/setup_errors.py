# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Program that provokes each error of a process without Splice's jars, and prints the errors."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from splice import (
    FileSource,
    HandOver,
    HybridSource,
    KafkaSource,
    SourcePlan,
    configure,
    query_history,
)
from splice._internal import jars

FOLDER = Path(sys.argv[1]) / "setup"
SOURCE = FileSource.builder("parquet", "/lake/orders").build()


def tell(condition: str, provoke: Callable[[], object]) -> None:
    """Print the error of a function."""
    try:
        provoke()
    except PySparkRuntimeError as error:
        print(f"{condition}: {' '.join(str(error).split())}", flush=True)
    else:
        raise AssertionError(f"{condition} was not provoked")


def configured(setting: str, value: str) -> Callable[[], object]:
    """Return a function that configures a builder with an environment variable."""

    def provoke() -> object:
        before = os.environ.pop(setting, None)
        os.environ[setting] = value
        try:
            return configure(SparkSession.Builder())
        finally:
            del os.environ[setting]
            if before is not None:
                os.environ[setting] = before

    return provoke


def rule(_: dict[str, Any]) -> str:
    """Never decide, because no session calls the rule."""
    raise AssertionError("the rule was called")


def main() -> None:
    """Provoke the errors without a session, and then in sessions without the jars."""
    FOLDER.mkdir(parents=True)
    (FOLDER / "none").mkdir()
    found = jars.jar_paths()[0]
    tell("BUILDER_NOT_SUPPORTED", lambda: configure(object()))  # type: ignore[arg-type]
    tell("CONNECT_NOT_SUPPORTED", configured("SPARK_REMOTE", "sc://localhost"))
    tell("DUPLICATE_JARS_SETTING", configured("PYSPARK_SUBMIT_ARGS", "--jars /a.jar pyspark-shell"))
    other = "/lib/splice-spark_2.13-9.8.jar"
    with_other = SparkSession.Builder().config("spark.jars", other)
    tell("JAR_VERSION_CONFLICT", lambda: configure(with_other))
    # Python imports no module whose entry in the table of modules is None.
    sys.modules["pandas"] = None  # type: ignore[assignment]
    tell("PANDAS_NOT_FOUND", SourcePlan("kafka", 1, None, (), ()).to_pandas)
    del sys.modules["pandas"]
    tell("SESSION_NOT_FOUND", SOURCE.read)
    live = KafkaSource.builder().bootstrap_servers("127.0.0.1:1").topics("orders").build()
    chain = HybridSource.builder("history", SOURCE).add_source("live", live, HandOver.custom(rule))
    source = chain.build()

    jars._CARRIED = FOLDER / "none"
    tell("JAR_NOT_FOUND", configured(jars.ENVIRONMENT, str(FOLDER / "none")))
    os.environ.pop(jars.ENVIRONMENT, None)
    tell("JAR_FOLDER_NOT_SET", lambda: configure(SparkSession.Builder()))
    os.environ[jars.ENVIRONMENT] = str(found.parent)

    empty = FOLDER / "mine.jar"
    with zipfile.ZipFile(empty, "w") as jar:
        jar.writestr("empty", "")
    for condition, settings in (("FORMAT_NOT_FOUND", {}), ("JARS_REPLACED", {"spark.jars": empty})):
        session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        for name, value in settings.items():
            session = session.config(name, str(value))
        spark = session.getOrCreate()
        tell(condition, lambda spark=spark: SOURCE.read(spark))  # type: ignore[misc]
        if condition == "FORMAT_NOT_FOUND":
            tell("JAR_NOT_LOADED", lambda: configure(SparkSession.Builder()))
            tell("CALLBACK_NOT_SUPPORTED", lambda spark=spark: source.read(spark))  # type: ignore[misc]
            tell(
                "CLASSIC_SESSION_NOT_FOUND",
                lambda spark=spark: query_history(spark, str(FOLDER)),  # type: ignore[misc]
            )
        spark.stop()


main()
