# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills a driver's JVM at a chosen step of its file system."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

DIED = "splice.faults: killed "
"""What the JVM says as its last words."""

_SOURCE = Path(__file__).with_name("CrashFileSystem.java")


@dataclass(frozen=True)
class Crash:
    """A step at which the JVM dies by SIGKILL.

    Attributes:
        path: A regular expression that the whole path of a file must match.
        operation: ``rename``, of a file to the path, or ``create``.
        moment: ``before`` or ``after`` it.
        occurrence: Which time, from 1.
    """

    path: str
    operation: str = "rename"
    moment: str = "after"
    occurrence: int = 1

    def conf(self) -> dict[str, str]:
        """Gives the settings of a session that say this."""
        said = {
            "path": self.path,
            "operation": self.operation,
            "moment": self.moment,
            "occurrence": str(self.occurrence),
        }
        return {f"spark.hadoop.splice.crash.{key}": value for key, value in said.items()}


def compile_file_system(folder: Path) -> dict[str, str]:
    """Compiles the file system into the folder and gives the settings that make it known."""
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    home = os.environ.get("JAVA_HOME")
    javac = str(Path(home, "bin", "javac")) if home else "javac"
    classes = folder / "crash-classes"
    command = [javac, "-nowarn", "-d", str(classes), "-cp", f"{jars}/*", str(_SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"javac failed:\n{done.stderr}")
    return {
        "spark.driver.extraClassPath": str(classes),
        "spark.hadoop.fs.crash.impl": "splice.faults.CrashFileSystem",
        "spark.hadoop.fs.AbstractFileSystem.crash.impl": "splice.faults.CrashFileSystem$Context",
    }
