# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Launcher of programs, with Python or spark-submit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark

_PROGRAMS = Path(__file__).parent
PATIENCE = 400
"""Seconds for a program that starts a session, which a slow machine starts in one minute."""


def spark_submit() -> str:
    """Return the spark-submit of the installed PySpark."""
    return str(Path(pyspark.__file__).parent / "bin" / "spark-submit")


def program(name: str) -> str:
    """Return the path of a program of this folder."""
    return str(_PROGRAMS / f"{name}.py")


def environment() -> dict[str, str]:
    """Return the variables of this process, and those with which a program finds the packages."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(_PROGRAMS.parent), *sys.path]),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def run(
    command: Sequence[str], name: str, *arguments: str, env: Mapping[str, str] | None = None
) -> str:
    """Run a program of this folder with a command, and return its output.

    Raises:
        AssertionError: with the end of the output, if the program fails.
    """
    done = subprocess.run(
        [*command, program(name), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment() | dict(env or {}),
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith("\tat ")]
    assert done.returncode == 0, "\n".join(lines)[-6000:]
    return done.stdout
