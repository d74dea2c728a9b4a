# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Configuration of a session builder with the jars of Splice."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from splice._internal import jvm
from splice._internal.jars import (
    CONNECTOR,
    SETTING,
    artifact,
    file_name,
    how_to_submit,
    jar_paths,
    sets_jars,
)
from splice.errors import SetupError

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView
    from pyspark.sql import SparkSession

_PACKAGES = "spark.jars.packages"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Append Splice's jars to ``spark.jars`` of a session builder.

    The function keeps the jars in ``spark.jars`` of the builder or of spark-defaults.conf. A second
    call has no effect. A call has no effect either if the running session or the builder's packages
    already contain Splice.

    Call ``config("spark.jars", ...)`` before this function, because that call replaces all jars.

    Args:
        builder: Builder of a classic session (or of a local Spark Connect server).

    Returns:
        The same builder.

    Raises:
        SetupError: if ``spark.jars`` has another version of a jar of this package. Also if a JVM of
            an earlier session or of spark-submit runs without the jar. Also if PYSPARK_SUBMIT_ARGS
            sets jars, which would replace the jars of the builder. Also if the session belongs to
            a Spark Connect server.

    Examples:
        >>> from pyspark.sql import SparkSession
        >>> spark = configure(SparkSession.builder.appName("orders")).getOrCreate()
        >>> history.read(spark).count()
        30
    """
    options = _options(builder)
    _reject_remote(builder, options)
    driver = jvm.connect() if "PYSPARK_GATEWAY_PORT" in os.environ else jvm.running()
    if driver is not None:
        return _running(builder, driver)
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if CONNECTOR in options.get(_PACKAGES, _default(_PACKAGES)) or CONNECTOR in arguments:
        return builder
    if sets_jars(shlex.split(arguments)):
        raise SetupError.of("SPLICE_SETUP.DUPLICATE_JARS_SETTING", arguments=how_to_submit())
    jars = [jar for jar in options.get(SETTING, _default(SETTING)).split(",") if jar.strip()]
    paths = jar_paths()
    _reject_other_versions(jars, paths)
    names = {file_name(jar) for jar in jars}
    return builder.config(
        SETTING,
        ",".join([*jars, *(str(path) for path in paths if path.name not in names)]),
    )


def _options(builder: SparkSession.Builder) -> Mapping[str, str]:
    # Spark has no public method that returns the options of a builder. Without these options, the
    # user's jars would be lost without a warning, so a missing private map is an error.
    options = getattr(builder, "_options", None)
    if not isinstance(options, Mapping):
        raise SetupError.of(
            "SPLICE_SETUP.BUILDER_NOT_SUPPORTED",
            builder=type(builder).__name__,
            arguments=how_to_submit(),
        )
    return options


def _reject_remote(builder: SparkSession.Builder, options: Mapping[str, str]) -> None:
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    served = remote and not remote.startswith("local")
    client = type(builder).__module__.startswith("pyspark.sql.connect")
    if served or client or ("SPARK_CONNECT_MODE_ENABLED" in os.environ and jvm.running() is None):
        raise SetupError.of("SPLICE_SETUP.CONNECT_NOT_SUPPORTED", arguments=how_to_submit())


def _running(builder: SparkSession.Builder, driver: JVMView) -> SparkSession.Builder:
    if jvm.entry_point(driver) is not None:
        return builder
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    origin = "that spark-submit started" if submitted else "of a session that already exists"
    raise SetupError.of("SPLICE_SETUP.JAR_NOT_LOADED", origin=origin, arguments=how_to_submit())


def _reject_other_versions(jars: list[str], paths: list[Path]) -> None:
    for jar, mine in itertools.product(jars, paths):
        name = file_name(jar)
        if name != mine.name and artifact(name) == artifact(mine.name):
            raise SetupError.of(
                "SPLICE_SETUP.JAR_VERSION_CONFLICT", setting=SETTING, jar=name, packageJar=mine.name
            )


def _default(key: str) -> str:
    home, given = os.environ.get("SPARK_HOME"), os.environ.get("SPARK_CONF_DIR")
    folder = Path(given) if given else Path(home, "conf") if home else None
    if folder is None or not (folder / "spark-defaults.conf").is_file():
        return ""
    defaults = folder / "spark-defaults.conf"
    line = rf"(?m)^\s*{re.escape(key)}[ \t=:]+(\S.*?)\s*$"
    values = re.findall(line, defaults.read_text("utf-8"))
    return values[-1] if values else ""
