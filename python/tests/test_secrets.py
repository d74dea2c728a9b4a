# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Secrets in the text of a source. Tests of the JVM use the same cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from splice._internal.secrets import HIDDEN, shown

CASES = json.loads(
    (
        Path(__file__).parents[2] / "jvm/source/src/test/resources/splice/source/shown-options.json"
    ).read_text()
)


@pytest.mark.parametrize("case", CASES, ids=[f"{c['name']}={c['value']}" for c in CASES])
def test_an_option_is_shown_without_its_secret(case: dict[str, str]) -> None:
    expected = case["shown"].replace("<hidden>", HIDDEN)
    assert shown({case["name"]: case["value"]}) == f"{case['name']}={expected!r}"
