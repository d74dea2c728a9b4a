# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The page about the command line is up to date, and the commands name tested versions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from splice.cli.environment import TESTED_SPARK

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "command-line.md"
GENERATOR = ROOT / "project" / "command_line.py"


def test_the_page_is_generated_from_the_parsers() -> None:
    program = f"import runpy; print(runpy.run_path({str(GENERATOR)!r})['page'](), end='')"
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert PAGE.read_text("utf-8") == made.stdout, "run `python project/command_line.py`"


def test_doctor_accepts_the_tested_versions_of_spark() -> None:
    properties = (ROOT / "project" / "spark.properties").read_text()
    tested = next(line for line in properties.splitlines() if line.startswith("tested="))
    versions = tested.removeprefix("tested=").split()
    assert [".".join(version.split(".")[:2]) for version in versions] == list(TESTED_SPARK)
