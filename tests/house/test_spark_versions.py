# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One file sets the versions of Spark, and no other file of the build repeats them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
READERS = (
    "Makefile",
    "build.sbt",
    "project/Versions.scala",
    "python/pyproject.toml",
    "python/hatch_build.py",
    ".github/workflows/ci.yml",
    ".github/workflows/soak.yml",
)

VERSIONS = dict(
    line.split("=", 1)
    for line in (ROOT / "project" / "spark.properties").read_text().splitlines()
    if "=" in line and not line.startswith("#")
)


def test_the_version_of_the_build_is_tested() -> None:
    assert VERSIONS["built"] in VERSIONS["tested"].split()


@pytest.mark.parametrize("version", VERSIONS["tested"].split())
def test_the_wheel_accepts_each_tested_version(version: str) -> None:
    assert version in SpecifierSet(VERSIONS["python"])


@pytest.mark.parametrize("reader", READERS)
def test_readers_repeat_no_version_of_spark(reader: str) -> None:
    # The versions of Spark, without adjacent digits.
    tested = "|".join(map(re.escape, VERSIONS["tested"].split()))
    lines = (ROOT / reader).read_text().splitlines()
    # The version of Kafka's server may equal one of Spark.
    assert not [
        line
        for line in lines
        if re.search(rf"(?<!\d)({tested})(?!\d)", line) and "kafka" not in line
    ]
