# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Import of the package in an installation for Spark Connect only, which has no py4j."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"

# The complete PySpark imports py4j, so the program imports PySpark first.
PROGRAM = """
import sys
import pyspark.errors, pyspark.sql.types


class WithoutPy4J:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "py4j":
            raise ImportError(name)


for name in [name for name in sys.modules if name.partition(".")[0] == "py4j"]:
    del sys.modules[name]
sys.meta_path.insert(0, WithoutPy4J())
sys.path.insert(0, sys.argv[1])
import splice
from splice._internal import jvm
from splice._internal.progress import loop

print(len(splice.__all__) > 30, jvm.errors(), jvm.error_text(ValueError()))
print(len(jvm.unavailable()))
"""


def test_the_package_needs_no_py4j() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(SOURCES)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "True () None\n2\n", done.stderr
