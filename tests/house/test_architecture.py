# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The page about the architecture names files and members that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def _steps(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def _source(name: str) -> str:
    found = list((ROOT / "jvm").glob(f"*/src/main/**/{name}"))
    assert len(found) == 1, f"{name}: {found}"
    return found[0].read_text()


@pytest.mark.parametrize("heading", ["Path of an offset", "Path of a row"])
def test_each_step_names_a_file_and_members_of_the_file(heading: str) -> None:
    steps = _steps(heading)
    assert [int(step[0]) for step in steps] == list(range(1, len(steps) + 1))
    assert len(steps) > 7
    for _, file, content in steps:
        text = _source(file.strip("`"))
        for member in re.findall(r"`(\w+)`", content):
            assert re.search(rf"\b{member}\b", text), f"{member} is not in {file}"
