# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What the soak run chooses, skips and says; its lives are those of the kill tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak import seeds
from soak.fate import fate
from soak.ledger import PASSED, Entry, Ledger


def _entry(seed: int, commit: str = "abc", result: str = PASSED) -> Entry:
    return Entry(seed, "0.1.0", commit, result, 2.5, ["before rename /offsets/1"])


def test_seeds_are_read() -> None:
    assert seeds.parse("3,7..9,8") == [3, 7, 8, 9]


@pytest.mark.parametrize("text", ["", "a", "1..", "5..3", "1-3"])
def test_seeds_that_say_nothing_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no seed|ends before"):
        seeds.parse(text)


def test_a_seed_says_its_fate() -> None:
    assert fate(7) == fate(7)
    assert len({str(fate(seed)) for seed in range(50)}) == 50


def test_only_what_has_passed_with_the_same_code_is_left_out(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "folder" / "ledger.jsonl")
    for entry in (_entry(1), _entry(2, "old"), _entry(3, result="lost rows")):
        ledger.add(entry)
    assert ledger.to_run([1, 2, 3, 4], "abc") == [2, 3, 4]
    assert ledger.to_run([1], "abc+") == [1]
    assert not ledger.all_passed([1, 3], "abc")
    ledger.add(_entry(3))
    assert ledger.all_passed([1, 3], "abc")


def test_an_entry_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add(_entry(1))
    ledger.file.write_text(ledger.file.read_text() + '{"seed": 2, "vers')
    ledger.add(_entry(3))
    assert [entry.seed for entry in ledger.entries()] == [1, 3]


def test_the_summary_names_what_failed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for entry in (_entry(1), _entry(2, result="lost rows"), _entry(9, "old")):
        ledger.add(entry)
    said = ledger.summary([1, 2, 3], "abc").splitlines()
    assert said[0] == "3 seeds at abc: 1 passed, 1 failed, 1 not run; 2 deaths in 5 s"
    assert said[1] == "  seed 2: lost rows"
