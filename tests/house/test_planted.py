# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Patches of planted defects apply to the current source. `make planted` runs their suites."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import planted

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("one", planted.all_planted(), ids=lambda one: one.name)
def test_each_patch_applies_to_the_source(one: planted.Planted) -> None:
    assert planted.rejection(one) == ""
    assert 0 < one.changes <= 10
    assert all(path.startswith("jvm/dynamic-kafka/src/main/") for path in one.files)
    assert (
        ROOT / f"jvm/dynamic-kafka/src/test/scala/{one.suite.replace('.', '/')}.scala"
    ).is_file()
    re.compile(one.found)
    assert re.fullmatch(r"(\d+(\.\.\d+)?)?", one.seeds)


def test_a_patch_of_another_source_does_not_apply(tmp_path: Path) -> None:
    one = planted.all_planted()[0]
    assert planted.rejection(one, tmp_path) != ""
