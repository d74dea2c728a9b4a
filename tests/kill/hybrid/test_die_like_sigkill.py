# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Comparison of a run that dies in the session of the tests with a process that is killed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from kill.backend.sample import REAL
from kill.hybrid.steps import BATCHES, STEPS, state
from kill.scenario import Scenario

_RANDOM = (
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>"),
    (r"\b1[0-9]{12}\b", "<time>"),
    (r"\b[0-9]{4}(-[0-9]{2}){2}T[0-9:.]+Z", "<time>"),
    (r"\b[0-9a-f]{32}\b", "<digest>"),
    # The size of a file depends on the order of the rows of its batch.
    (r'"size":[0-9]+', '"size":<size>'),
)


def test_the_same_files_and_rows_stay_at_each_step(scenario: Scenario, tmp_path: Path) -> None:
    # No other task writes a file during the kill, because each batch has one task.
    scenario.given(options={"slots": "1"})
    dead, killed = (scenario.twin(tmp_path / name) for name in ("dead", "killed"))
    for number, (step, kill_at) in enumerate(STEPS.items()):
        batch = BATCHES[number // 2]
        kill = kill_at(batch)
        dead.die(kill)
        killed.die(replace(kill, action=REAL["equal"].action))
        checkpoint = dead.checkpoint()
        assert (checkpoint.planned(), checkpoint.committed()) == state(step, batch)
        assert _files(dead.folder) == _files(killed.folder), step
    for each in (dead, killed):
        each.finish()
        each.assert_each_once()
        each.assert_switched_once()
    assert _files(dead.folder) == _files(killed.folder)


def _files(folder: Path) -> list[tuple[str, str]]:
    """Return the files of the checkpoint and of the sink, without ids and times."""
    found = [
        (_without_random(str(file.relative_to(folder))), _content(file, folder))
        for top in ("checkpoint-0", "output-0")
        for file in (folder / top).rglob("*")
    ]
    return sorted(found)


def _content(file: Path, folder: Path) -> str:
    if file.is_dir():
        return "folder"
    if file.suffix != ".parquet":
        return _without_random(file.read_text().replace(str(folder), "<folder>"))
    if not file.stat().st_size:
        return "empty"
    return " ".join(sorted(pq.read_table(file)["order_id"].to_pylist()))


def _without_random(text: str) -> str:
    for pattern, name in _RANDOM:
        text = re.sub(pattern, name, text)
    return text
