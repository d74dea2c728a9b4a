# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each guarantee on the page of guarantees names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guarantees.md"


def _promises() -> list[list[str]]:
    rows = [line.split("|")[1:-1] for line in PAGE.read_text().splitlines() if line[:1] == "|"]
    return [row for row in rows if row[0].strip() not in ("Guarantee", "---")]


def test_each_promise_names_tests_that_exist() -> None:
    suites = {file.stem for file in (ROOT / "jvm").rglob("src/test/**/*Suite.scala")}
    assert len(_promises()) > 20
    for promise, _, tests in _promises():
        named = re.findall(r"`([^`]+)`", tests)
        assert named, promise
        for name in named:
            assert name in suites or (ROOT / name).is_file(), f"{name} of:{promise}"
