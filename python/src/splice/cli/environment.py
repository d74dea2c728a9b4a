# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of Python, Java, Spark and the jars. The checks need no JVM of Spark."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from splice._internal.jars import CONNECTOR, artifact, jar_paths, sets_jars
from splice.cli.findings import Finding, failed, ok, warning
from splice.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTED_SPARK = ("4.1", "4.2", "4.3")
"""Versions of Spark with which the tests of this version run."""

TESTED_JAVA = (17, 21)
"""Versions of Java with which the tests of this version run."""

_OLDEST_PYTHON = (3, 10)
_JARS = re.compile(r"^(spark-sql-kafka|kafka-clients|splice-spark)")


def findings() -> Iterator[Finding]:
    """Check Python, Java, Spark, the jars and the environment variables."""
    yield _python()
    yield java()
    yield _spark()
    yield from _spark_home()
    yield from _jars()
    yield from _folder_jars()
    yield from _submit_arguments()


def _python() -> Finding:
    text = f"Python {sys.version.split()[0]} ({sys.executable})"
    if sys.version_info < _OLDEST_PYTHON:
        return failed(text, "Use Python 3.10 or newer.")
    return ok(text)


def java() -> Finding:
    """Check that the Java program of Spark runs, and its version."""
    home = os.environ.get("JAVA_HOME")
    shown = f"JAVA_HOME={home}" if home else "JAVA_HOME is not set"
    install = "Install JDK 17 or 21, and set JAVA_HOME to its folder."
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if program is None or not Path(program).exists():
        where = program or "a folder of PATH"
        return failed(f"Java: no program 'java' in {where}, {shown}", install)
    try:
        done = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return failed(f"Java: {program} does not run: {error}", install)
    found = re.search(r'version "((\d+)[^"]*)"', done.stderr + done.stdout)
    if found is None:
        return failed(f"Java: {program} -version printed no version", install)
    text = f"Java {found[1]} ({program}, {shown})"
    number = int(found[2])
    if number < TESTED_JAVA[0]:
        return failed(text, "Spark 4 needs Java 17 or newer. " + install)
    if number not in TESTED_JAVA:
        return warning(text, "The tests of Splice use Java 17 and 21. Use one of these versions.")
    return ok(text)


def _spark() -> Finding:
    found = pyspark.__version__
    text = f"PySpark {found} ({Path(pyspark.__file__).parent})"
    if ".".join(found.split(".")[:2]) in TESTED_SPARK:
        return ok(text)
    return failed(text, f"Install PySpark {TESTED_SPARK[0]} to {TESTED_SPARK[-1]}.")


def _spark_home() -> Iterator[Finding]:
    home = os.environ.get("SPARK_HOME")
    if not home:
        yield ok("SPARK_HOME is not set, so Spark is the one of PySpark")
        return
    cores = sorted(Path(home, "jars").glob("spark-core_*.jar"))
    if not cores:
        yield failed(
            f"SPARK_HOME={home} has no jar of Spark", "Set SPARK_HOME to a Spark folder, or unset."
        )
        return
    core = re.match(r"spark-core_([\d.]+)-(.+)\.jar", cores[0].name)
    scala, spark = (core[1], core[2]) if core else ("?", "?")
    text = f"SPARK_HOME={home} has Spark {spark} for Scala {scala}"
    if spark != pyspark.__version__:
        yield failed(
            f"{text}, and PySpark is {pyspark.__version__}",
            f"Unset SPARK_HOME, or install pyspark=={spark}.",
        )
    elif scala != "2.13":
        yield failed(text, "Use a build of Spark for Scala 2.13.")
    else:
        yield ok(text)


def _jars() -> Iterator[Finding]:
    try:
        paths = jar_paths()
    except SetupError as error:
        yield failed(f"jars: {error}", "Install the wheel of splice-spark again.")
        return
    yield ok(f"jars: {', '.join(str(path) for path in paths)}")
    jar = paths[0].name.removeprefix(f"{CONNECTOR}-").removesuffix(".jar")
    try:
        package = version("splice-spark")
    except PackageNotFoundError:
        yield warning(
            "the package splice-spark is not installed", "Install the wheel, unless you develop."
        )
        return
    if jar.replace("-SNAPSHOT", ".dev0") == package:
        yield ok(f"the package and its jar have the version {package}")
    else:
        yield failed(
            f"the package has the version {package}, and its jar has the version {jar}",
            "Unset SPLICE_JARS, or install the wheel of the version of the jar.",
        )


def _folder_jars() -> Iterator[Finding]:
    """Find jars of Kafka and Splice in the folder of Spark's jars."""
    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    own: set[str] = set()
    with contextlib.suppress(SetupError):
        own = {path.name for path in jar_paths()}
    found = [p.name for p in sorted(Path(home, "jars").glob("*.jar")) if _JARS.match(p.name)]
    others = [name for name in found if name not in own]
    if not others:
        yield ok("the folder of Spark's jars has no jar of Kafka or of Splice")
    for name in others:
        step = f"Remove the jar from {Path(home, 'jars')}, or use the same version as Splice."
        if artifact(name) in {artifact(mine) for mine in own}:
            yield failed(f"{name} in the folder of Spark's jars is another version", step)
        else:
            yield warning(
                f"{name} is in the folder of Spark's jars",
                "Check that its Kafka client has the same version as the client of Splice.",
            )


def _submit_arguments() -> Iterator[Finding]:
    text = os.environ.get("PYSPARK_SUBMIT_ARGS")
    if text is None:
        yield ok("PYSPARK_SUBMIT_ARGS is not set")
        return
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        yield failed(f"PYSPARK_SUBMIT_ARGS: {error}", "Correct the quotation marks.")
        return
    if not arguments or arguments[-1] != "pyspark-shell":
        yield failed(
            "PYSPARK_SUBMIT_ARGS does not end with pyspark-shell",
            "Add pyspark-shell as the last argument. Otherwise PySpark starts no JVM.",
        )
    elif sets_jars(arguments) and CONNECTOR not in text:
        yield failed(
            "PYSPARK_SUBMIT_ARGS sets jars without the jars of Splice",
            "Move the jars to spark.jars of the session, or add the jars of Splice.",
        )
    else:
        yield ok("PYSPARK_SUBMIT_ARGS is set")
