# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of a process without Splice's jars, which a separate program provokes."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from errors.conditions.world import World, provokes

PROGRAM = Path(__file__).resolve().parents[2] / "programs" / "setup_errors.py"
CONDITIONS = (
    "BUILDER_NOT_SUPPORTED",
    "CALLBACK_NOT_SUPPORTED",
    "CLASSIC_SESSION_NOT_FOUND",
    "CONNECT_NOT_SUPPORTED",
    "DUPLICATE_JARS_SETTING",
    "FORMAT_NOT_FOUND",
    "JARS_REPLACED",
    "JAR_FOLDER_NOT_SET",
    "JAR_NOT_FOUND",
    "JAR_NOT_LOADED",
    "JAR_VERSION_CONFLICT",
    "PANDAS_NOT_FOUND",
    "SESSION_NOT_FOUND",
)


@lru_cache(maxsize=1)
def _output(folder: str) -> str:
    own = ("SPARK_HOME", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _case(condition: str, world: World) -> str:
    # All cases share one run of the program, so its folder is not the folder of the case.
    output = _output(str(world.folder.parent))
    (line,) = (line for line in output.splitlines() if line.startswith(f"{condition}: "))
    return line.partition(": ")[2]


for _condition in CONDITIONS:
    provokes(f"SPLICE_SETUP.{_condition}")(
        lambda world, condition=_condition: _case(condition, world)  # type: ignore[misc]
    )
