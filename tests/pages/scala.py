# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Compiler of Scala for the blocks of pages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark

from splice._internal.jars import jar_paths

QUICK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A short program ends before an optimizing compiler pays off."""


def compile_scala(source: str, folder: Path) -> None:
    """Compile a source file over Spark and Splice, and write its classes to a folder."""
    file = folder / "Block.scala"
    file.write_text(source)
    spark = f"{Path(pyspark.__file__).parent}/jars/*"
    libraries = ":".join(str(path) for path in jar_paths())
    compiler = ["java", "-cp", spark, "scala.tools.nsc.Main", "-usejavacp"]
    options = ["-cp", libraries, "-d", str(folder)]
    environment = os.environ | QUICK
    done = subprocess.run(
        [*compiler, *options, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=180,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout
