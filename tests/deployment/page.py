# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands and programs of the page about deployment."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from pages.page import ROOT, Page
from splice._internal.jars import jar_paths

VERSION = (ROOT / "VERSION").read_text().strip()

_SHOWN_JARS = re.compile(
    r"/opt/splice/splice-spark_2\.13-\S+?\.jar,/opt/splice/kafka-clients-\S+\.jar"
)
_SHOWN_PACKAGE = re.compile(r"(io\.github\.splice:splice-spark_2\.13:)[\w.-]+")


def arguments(page: Page, heading: str, shown: Mapping[str, str] | None = None) -> list[list[str]]:
    """Return the arguments of the commands of a section, without their program ``job.py``.

    The arguments have the jars and the version of this tree.

    Args:
        page: The page, for the test module that executes the section.
        heading: Heading of the section, such as ``Spark Connect``.
        shown: Further addresses of the page, each with the one that replaces it.
    """
    jars = ",".join(str(path) for path in jar_paths())
    found = []
    for block in _blocks(page, heading, "sh"):
        code = page.replaced(block, {})
        code = _SHOWN_PACKAGE.sub(rf"\g<1>{VERSION}", _SHOWN_JARS.sub(jars, code))
        for name, real in (shown or {}).items():
            code = code.replace(name, real)
        found.append(
            [word for word in shlex.split(code.replace("\\\n", " "))[1:] if word != "job.py"]
        )
    return found


def program(page: Page, shown: Mapping[str, str]) -> str:
    """Return the program of the page, with other addresses and paths."""
    code = page.blocks("python")[0]
    missing = [name for name in shown if name not in code]
    if missing:
        raise ValueError(f"the program has no {missing}")
    return page.replaced(code, shown)


def local_program(page: Page) -> dict[str, Any]:
    """Execute the block that creates a local session, and return its names."""
    (block,) = _blocks(page, "Local program", "python")
    return page.run(f"from pyspark.sql import SparkSession\n{block}", {}, {})


def _blocks(page: Page, heading: str, language: str) -> list[str]:
    section = page.path.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
