# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Patches of planted defects apply to the current source. `make planted` runs their tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import planted

_MAIN = re.compile(r"jvm/(?!testkit/)[^/]+/src/main/|python/src/")


@pytest.mark.parametrize("one", planted.all_planted(), ids=lambda one: one.name)
def test_each_patch_applies_to_the_source(one: planted.Planted) -> None:
    assert planted.rejection(one) == ""
    assert 0 < one.changes <= 10
    assert all(_MAIN.match(path) for path in one.files)
    for finder in one.finders:
        assert finder.path.is_file()
        re.compile(finder.found)
        assert re.fullmatch(r"(\d+(\.\.\d+)?)?", finder.seeds)
        if finder.kind == "Test":
            name = re.escape(finder.name.split("::")[1].split("[")[0])
            assert re.search(rf"^def {name}\(", finder.path.read_text(), re.MULTILINE)


def test_a_patch_of_another_source_does_not_apply(tmp_path: Path) -> None:
    one = planted.all_planted()[0]
    assert planted.rejection(one, tmp_path) != ""


def test_the_table_has_all_patches() -> None:
    assert planted.table() in (planted.PATCHES / "README.md").read_text()


def test_the_fields_after_a_finder_belong_to_this_finder(tmp_path: Path) -> None:
    patch = tmp_path / "X1.patch"
    change = "\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    patch.write_text(
        f"Effect.\n\nSuite: a.B\nSeeds: 1..5\nFound: c\nTest: tests/d.py::e\nFound: f\n{change}"
    )
    one = planted.read(patch)
    assert one.finders == [
        planted.Finder("Suite", "a.B", seeds="1..5", found="c"),
        planted.Finder("Test", "tests/d.py::e", found="f"),
    ]
    assert (one.effect, one.files, one.changes) == ("Effect.", ["f"], 2)
    patch.write_text(f"Effect.\n\nSuite: a.B\n{change}")
    with pytest.raises(ValueError, match="needs an effect"):
        planted.read(patch)
