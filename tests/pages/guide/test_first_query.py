# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Install the wheel into an empty environment, and paste the first query of the README."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

from pages.page import ROOT, Page
from programs.launch import PATIENCE

README = Page("README.md", by="tests/pages/guide/test_first_query.py")

_PRESENT = ("pyspark", "py4j")
"""Packages that the empty environment has, as links to the packages of this environment."""

_OWN = ("PYTHONPATH", "SPARK_HOME", "SPLICE_JARS", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


def empty_environment(folder: Path) -> Path:
    """Create a virtual environment with PySpark and pip only, and return its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in _PRESENT:
        found = distribution(name)
        tops = {Path(file).parts[0] for file in found.files or ()}
        for top in tops - {"..", "__pycache__"}:
            (packages / top).symlink_to(str(found.locate_file(top)))
    return folder / "bin"


def test_the_pasted_query_prints_the_table(tmp_path: Path) -> None:
    programs = empty_environment(tmp_path / "venv")
    env = {name: value for name, value in os.environ.items() if name not in _OWN}
    env["PATH"] = f"{programs}{os.pathsep}{env['PATH']}"
    # A short program ends before an optimizing compiler pays off.
    env["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

    def run(command: list[str], pasted: str, folder: Path) -> str:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            input=pasted,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        return done.stdout

    run(["bash", "-e"], README.section("install"), ROOT)
    # Like a terminal, -i reads statement by statement, and continues after an error.
    output = run(["python", "-i", "-q"], README.replaced(README.section("first"), {}), tmp_path)
    assert output.strip() == README.section("first-output").strip()
    README.assert_all_executed()
