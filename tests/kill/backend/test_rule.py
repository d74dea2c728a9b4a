# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs that need a driver process, and the sample of real kills."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kill.backend.rule import MASTER, reasons
from kill.backend.sample import REAL, missing
from kill.killing import Kill

_TESTS = Path(__file__).resolve().parents[2]
_GIVEN: dict[str, Any] = {
    "queries": [{"options": {"live.commitToGroup": "false"}, "custom_rule": None}],
    "kills": [Kill.offsets(1), Kill("row", ".", action="fail")],
    "master": MASTER,
    "conf": {"spark.sql.shuffle.partitions": "1"},
    "slain": False,
    "wanted": "",
}


def test_the_session_runs_queries_that_die() -> None:
    assert reasons(**_GIVEN) == []


@pytest.mark.parametrize(
    ("changed", "value", "reason"),
    [
        ("queries", [{"options": {"live.commitToGroup": "true"}}], "live.commitToGroup"),
        ("queries", [{"options": {}, "custom_rule": "notes"}], "a rule in Python"),
        ("kills", [Kill.offsets(1, action="halt")], "the action halt"),
        ("kills", [Kill.offsets(1, action="signal")], "the action signal"),
        ("kills", [Kill("row", ".", action="hang")], "the action hang"),
        ("kills", [Kill("row", ".", action="lose")], "the action lose"),
        ("master", "local[2,4]", "the master local[2,4]"),
        ("conf", {"spark.task.maxFailures": "2"}, "the setting spark.task.maxFailures"),
        ("slain", True, "a kill by the test"),
        ("wanted", "process", "the variable KILLS"),
    ],
)
def test_a_process_is_needed(changed: str, value: Any, reason: str) -> None:
    assert reasons(**{**_GIVEN, changed: value}) == [reason]


def test_real_kills_have_each_step_action_trigger_and_source() -> None:
    assert missing(REAL) == []
    files = [*(_TESTS / "kill").rglob("test_*.py"), *(_TESTS / "clusters").rglob("test_*.py")]
    used = re.findall(r'REAL\["([\w-]+)"\]\.action', "".join(map(Path.read_text, files)))
    assert sorted(used) == sorted(REAL)


@pytest.mark.parametrize("name", REAL)
def test_the_sample_lacks_a_value_without_this_kill(name: str) -> None:
    assert missing({other: kill for other, kill in REAL.items() if other != name})
