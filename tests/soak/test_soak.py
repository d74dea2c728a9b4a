# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Choices, skipped seeds and summaries of soak."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kill.killing import Kill
from soak import seeds
from soak.dynamic import fate as dynamic_fate
from soak.dynamic.applied import Applied, changes, owed
from soak.files import fate as files_fate
from soak.hybrid import fate as hybrid_fate
from soak.kafka import fate as kafka_fate
from soak.ledger import PASSED, Entry, Kind, Ledger
from soak.lives import seed as lives_seed
from soak.memory import seed as memory_seed
from soak.realtime import fate as realtime_fate
from soak.tables import fate as tables_fate

HYBRID, KAFKA = Kind.HYBRID, Kind.KAFKA
_ROOT = Path(__file__).resolve().parents[2]


def _entry(seed: int, commit: str = "abc", result: str = PASSED, kind: Kind = HYBRID) -> Entry:
    faults = ["a broker is killed"] if kind is KAFKA else []
    return Entry(seed, "0.1.0", commit, result, 2.5, ["before rename /offsets/1"], kind, faults)


def test_seeds_are_read() -> None:
    assert seeds.parse("3,7..9,8") == [3, 7, 8, 9]


@pytest.mark.parametrize("text", ["", "a", "1..", "5..3", "1-3"])
def test_invalid_seeds_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a valid seed|ends before"):
        seeds.parse(text)


@pytest.mark.parametrize(
    "kind", [hybrid_fate, kafka_fate, dynamic_fate, realtime_fate, tables_fate, files_fate]
)
def test_a_seed_determines_its_choices(kind) -> None:  # type: ignore[no-untyped-def]
    assert kind.fate(7) == kind.fate(7)
    assert len({str(kind.fate(seed)) for seed in range(50)}) == 50


def test_all_that_can_befall_plain_kafka_does() -> None:
    lives = [life for seed in range(200) for life in kafka_fate.fate(seed).lives]
    events = [event for life in lives for event in life.events]
    assert {e.what for life in lives for e in life.before} == {
        what for what in kafka_fate.What if what.is_removal
    }
    assert {(e.what, e.deadly) for e in events} == {
        (what, deadly) for what in kafka_fate.What for deadly in (True, False)
    }
    assert {life.goes_on for life in lives if life.kill} == {True, False}
    assert {life.options["assigner"] for life in lives} == {"balanced", "roundRobin", "hash"}


def test_all_that_can_befall_real_time_mode_does() -> None:
    fates = [realtime_fate.fate(seed) for seed in range(200)]
    lives = [life for fate in fates for life in fate.lives]
    sources = realtime_fate.Source
    assert {fate.source for fate in fates} == set(sources)
    for source in sources:
        happened = [e for f in fates if f.source is source for life in f.lives for e in life.events]
        expected: set[object] = {*realtime_fate.EVENTS}
        if source is sources.RECREATED:
            expected.add(kafka_fate.What.RECREATE)
        if source is sources.DYNAMIC:
            expected = {*dynamic_fate.What}
        assert {event.what for event in happened} == expected
        assert {event.deadly for event in happened} == {True, False}
    assert {fate.is_continuous for fate in fates} == {True, False}
    assert {next(iter(life.trigger)) for life in lives} == {
        *("realTime", "processingTime", "availableNow", "continuous")
    }
    assert {life.options["endBatchOnChange"] for life in lives} == {"true", "false"}


def test_all_that_can_befall_streams_on_many_clusters_does() -> None:
    lives = [life for seed in range(200) for life in dynamic_fate.fate(seed).lives]
    happened = [event for life in lives for event in (*life.before, *life.events)]
    assert {event.what for event in happened} == set(dynamic_fate.What)
    assert {life.options["cutover"] for life in lives} == {"together", "stream"}


def test_all_that_can_befall_a_table_does() -> None:
    fates = [tables_fate.fate(seed) for seed in range(200)]
    lives = [life for fate in fates for life in fate.lives]
    assert {change for life in lives for change in life.changes} == set(tables_fate.Change)
    assert len({str(fate.slicing) for fate in fates}) == len(tables_fate.SLICINGS)
    entries = {Kill.entry(entry).name for entry in tables_fate.ENTRIES}
    assert entries <= {life.kill.name for life in lives if life.kill}
    rules = {(fate.by_checkpoint, fate.holes, fate.old) for fate in fates}
    assert len(rules) == 6


def test_all_that_can_befall_a_watched_folder_does() -> None:
    fates = [files_fate.fate(seed) for seed in range(200)]
    assert {fate.end for fate in fates} == {None, *files_fate.ENDS}
    assert {fate.layout for fate in fates} == {*files_fate.LAYOUTS}
    assert {(fate.format, fate.end is None) for fate in fates} == {
        *(("json", True), ("parquet", True), ("text", True), ("json", False), ("parquet", False))
    }
    lives = [life for fate in fates for life in fate.lives]
    assert {next(iter(life.trigger)) for life in lives} == {"processingTime", "availableNow"}


def test_rows_of_a_removed_topic_are_due_if_the_query_has_seen_them_removed() -> None:
    def change(generation: int, *topics: str) -> Applied:
        return Applied(generation, frozenset(("east", topic) for topic in topics), frozenset())

    held = [{("east", topic): 10 * n for topic in "abc"} for n in range(8)]
    log = [change(1, "a", "b"), change(3, "a"), change(3, "a")]
    # The topics are: in the metadata, removed by generation 3, and never received.
    assert [owed(("east", topic), held, log) for topic in "abc"] == [70, 30, 0]
    # The rows of a topic that was added again are required again.
    assert owed(("east", "b"), held, [*log, change(5, "b")]) == 70


def test_changes_of_a_checkpoint_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "sources" / "0" / "splice"
    folder.mkdir(parents=True)
    lines = [
        "splice 1 0",
        '{"generation":7,"number":3,"v":1}',
        '{"cluster":"east","properties":{}}',
        '{"stream":"orders","topics":{"east":["a","b"],"west":["a"]}}',
        '{"state":"draining","cluster":"east","topic":"c","of":"orders"}',
        '{"state":"removed","cluster":"east","topic":"d","of":"orders"}',
        '{"state":"gone","cluster":"east","topics":["e"]}',
    ]
    (folder / "change-00000003").write_text("\n".join(lines))
    # The start of the first document was not durable when the query was killed.
    (folder / "change-00000002").write_text("\n".join([*lines[:3], lines[3].replace("a", "x")]))
    (folder / "initial").write_text('splice 1 0\n{"v":1}\n{"change":3,"clusters":{},"v":1}')
    topics = frozenset({("east", "a"), ("east", "b"), ("west", "a")})
    assert changes(tmp_path) == [Applied(7, topics, frozenset({("east", "c")}))]


def _figures(
    heaps: list[int], rows: int = memory_seed.ROWS, most: int = 1 << 30
) -> list[memory_seed.Figures]:
    step = memory_seed.BATCHES // len(heaps)
    batches = range(step, memory_seed.BATCHES + 1, step)
    return [
        memory_seed.Figures(batch, batch * rows, float(batch), heap << 20, heap << 20, 1, most)
        for batch, heap in zip(batches, heaps, strict=True)
    ]


def test_figures_of_memory_are_read(tmp_path: Path) -> None:
    file, figures = tmp_path / memory_seed.FIGURES, _figures([200] * 8)
    file.write_text("".join(json.dumps(vars(each)) + "\n" for each in figures))
    assert memory_seed.figures_of(file) == figures


def test_memory_may_neither_grow_nor_be_too_much() -> None:
    fewest = memory_seed.ROWS - memory_seed.PARTITIONS
    memory_seed.check(_figures([900, 200, 210, 190, 205, 200, 210, 195]))
    memory_seed.check(_figures([200] * 8, rows=fewest))
    for figures in (
        _figures([200, 200, 250, 250, 300, 300, 350, 350]),
        _figures([200] * 8, most=3 << 30),
        _figures([200] * 8, rows=fewest - 1),
        _figures([200] * 8, rows=memory_seed.ROWS + 1),
        _figures([200] * 8)[:7],
    ):
        with pytest.raises(AssertionError, match="MiB resident"):
            memory_seed.check(figures)


def test_successive_seeds_of_lives_are_blocks_of_each_simulation() -> None:
    count = len(lives_seed.SIMULATIONS)
    blocks = [lives_seed.block(seed) for seed in range(1, 2 * count + 1)]
    assert [simulation for simulation, _ in blocks] == [*lives_seed.SIMULATIONS] * 2
    assert [lives for _, lives in blocks[::count]] == ["1..500", "501..1000"]


@pytest.mark.parametrize("simulation", lives_seed.SIMULATIONS)
def test_the_suite_of_lives_has_one_test_of_the_name(simulation: lives_seed.Simulation) -> None:
    (file,) = _ROOT.glob(f"jvm/*/src/test/scala/{simulation.suite.replace('.', '/')}.scala")
    names = re.findall(r'test\(\s*"([^"]+)"', file.read_text())
    assert len([name for name in names if simulation.test in name]) == 1


def test_only_seeds_that_passed_with_the_same_commit_are_skipped(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "folder" / "ledger.jsonl")
    for entry in (_entry(1), _entry(2, "old"), _entry(3, result="lost rows")):
        ledger.add(entry)
    assert ledger.to_run([1, 2, 3, 4], "abc", HYBRID) == [2, 3, 4]
    assert ledger.to_run([1], "abc+", HYBRID) == [1]
    assert not ledger.all_passed([1, 3], "abc", HYBRID)
    ledger.add(_entry(3))
    assert ledger.all_passed([1, 3], "abc", HYBRID)


def test_a_seed_of_one_kind_is_not_one_of_the_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add(_entry(1, kind=KAFKA))
    assert ledger.entries() == [_entry(1, kind=KAFKA)]
    assert ledger.to_run([1], "abc", KAFKA) == []
    assert ledger.to_run([1], "abc", HYBRID) == [1]


def test_an_entry_without_a_kind_is_of_a_hybrid(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    written = vars(_entry(1)).copy()
    del written["kind"], written["faults"]
    ledger.file.write_text(json.dumps(written) + "\n")
    assert ledger.entries() == [_entry(1)]


def test_an_entry_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add(_entry(1))
    ledger.file.write_text(ledger.file.read_text() + '{"seed": 2, "vers')
    ledger.add(_entry(3))
    assert [entry.seed for entry in ledger.entries()] == [1, 3]


def test_the_summary_names_failed_seeds(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for entry in (_entry(1), _entry(2, result="lost rows"), _entry(9, "old")):
        ledger.add(replace(entry, kind=KAFKA, faults=["a broker is killed"]))
    ledger.add(_entry(3))
    lines = ledger.summary([1, 2, 3], "abc", KAFKA).splitlines()
    start = "3 kafka seeds at abc: 1 passed, 1 failed, 1 not run; "
    assert lines == [f"{start}2 deaths and 2 faults in 5 s", "  seed 2: lost rows"]
