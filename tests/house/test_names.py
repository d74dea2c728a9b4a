# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The tables of names contain every option and every error condition once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def section(heading: str) -> str:
    """Return the text of one section of the page of names."""
    return page("names.md").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def cells(text: str, column: int) -> list[str]:
    """Return the first name in one column of each row of a Markdown table."""
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    found = [re.search(r"`([^`]+)`", row[column]) for row in rows if len(row) > column]
    return [match.group(1) for match in found if match]


def test_every_option_has_one_row() -> None:
    areas = {area.partition("\n")[0]: area for area in re.split(r"\n## ", page("options.md"))[1:]}
    known = {(area, name) for area, text in areas.items() for name in cells(text, 0)}
    rows = section("Option names").split("Prefixes:")[0].splitlines()
    named = Counter((row.split("|")[1].strip(), name) for row in rows for name in cells(row, 1))
    assert known - set(named) == set()
    assert set(named) - known == set()
    assert [name for name, count in named.items() if count > 1] == []


def test_every_error_condition_has_one_row() -> None:
    known = set(re.findall(r"^### (SPLICE_\S+)", page("errors.md"), re.MULTILINE))
    named = Counter(cells(section("Error conditions").split("Conditions:")[1], 0))
    # The memory source belongs to the testkit.
    other = {name for name in named if name.startswith("SPLICE_MEMORY.")}
    assert known - set(named) == set()
    assert set(named) - known - other == set()
    assert [name for name, rows in named.items() if rows > 1] == []


def test_every_area_has_the_sqlstate_of_its_row() -> None:
    areas = re.split(r"\n## ", page("errors.md"))[1:]
    known = {area.partition("\n")[0]: re.findall(r"SQL state `(\w+)`", area) for area in areas}
    rows = section("Error conditions").split("Conditions:")[0]
    named = dict(zip(cells(rows, 0), cells(rows, 1), strict=True))
    del named["SPLICE_MEMORY"]
    assert {name: [state] for name, state in named.items()} == known
