# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Launcher of the program that creates side-log entries on a store."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark

from servers.class_data import java
from splice._internal.jars import jar_paths

_PROGRAM = Path(__file__).with_name("Entries.java")


def run(what: str, folder: str, conf: Mapping[str, str], jars: Sequence[Path] = ()) -> list[str]:
    """Run ``race`` or ``fail`` in a folder, and return the lines of the program.

    Args:
        what: Task of the program.
        folder: Address of the folder.
        conf: Hadoop settings of a client of the storage.
        jars: Jars of that client.

    Raises:
        RuntimeError: If the program fails.
    """
    sparks = Path(pyspark.__file__).parent / "jars" / "*"
    path = os.pathsep.join(map(str, [*jar_paths(), sparks, *jars]))
    program = [java(), "-Xmx512m", "-XX:+UseSerialGC", "-cp", path, str(_PROGRAM)]
    arguments = [what, folder, *(f"{key}={value}" for key, value in conf.items())]
    done = subprocess.run(
        [*program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"Entries {what} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout.splitlines()
