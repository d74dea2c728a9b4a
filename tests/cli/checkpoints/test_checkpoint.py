# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands that read a checkpoint, and each kind of damage that ``verify`` must find."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.checkpoints.conftest import OfKind
from cli.checkpoints.stopped import ARCHIVED, PARTITIONS, READ, UNREAD, Checkpoint, problems, splice
from conftest import MakeTopic
from orders import orders
from programs.launch import PATIENCE
from servers.kafka.topics import KafkaTopics
from servers.ports import free_ports

KINDS = ("kafka", "spark", "hybrid", "files")
KEPT = sorted((Path(__file__).resolve().parents[2] / "fixtures").glob("*-0.1*/**/checkpoint"))
SPLICE = "sources/0/splice"
Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize("kind", KINDS)
def test_an_intact_checkpoint_has_no_problem_and_stays_unchanged(
    kind: str, stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped(kind).copy(tmp_path)
    before = copy.content()
    assert problems(capsys, copy.path, copy.kafka) == {}
    code, out = splice(capsys, "show", copy.path)
    assert code == 0
    assert f"last committed batch: {copy.batches()[-1]}" in out
    assert "batch without commit: none" in out
    assert splice(capsys, "diff", copy.path, 0, copy.batches()[-1])[0] == 0
    assert copy.content() == before


def test_a_truncated_offset_is_shown_and_not_compared(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("kafka").copy(tmp_path)
    last = copy.batches()[-1]
    copy.delete(f"commits/{last}")
    copy.edit(f"offsets/{last}", (copy.path / f"offsets/{last}").read_text(), "v1")
    code, out = splice(capsys, "show", copy.path)
    assert code == 0
    assert f"batch without commit: {last}" in out
    assert "position of the batch without commit: cannot be read" in out
    assert splice(capsys, "diff", copy.path, 0, last)[0] == 2


def test_show_has_legs_positions_and_entries(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("hybrid").copy(tmp_path)
    last = copy.batches()[-1]
    code, out = splice(capsys, "show", copy.path, "--format", "json")
    found = json.loads(out)
    (source,) = found["sources"]
    assert code == 0
    assert (found["planned"], found["committed"], found["uncommitted"]) == (last, last, [])
    assert (source["kind"], source["leg"], source["sideLog"]) == ("hybrid", "live", True)
    assert [(leg["name"], leg["kind"]) for leg in source["legs"]] == [
        ("history", "files"),
        ("live", "kafka"),
    ]
    assert source["committed"] == copy.position(last)
    entries = {entry["entry"] for entry in source["entries"]}
    assert {"chain-00000000", "initial", "leg-live/hand-over-00000000"} <= entries
    copy.delete(f"commits/{last}")
    (copy.side_log / "session").write_text("other content")
    code, out = splice(capsys, "show", copy.path)
    assert code == 0
    assert f"batch without commit: {last}" in out
    assert "legs: history (files), live (kafka, current)" in out
    assert "the header of a side-log entry is missing" in out


@pytest.mark.parametrize(
    ("kind", "part"), [("kafka", ()), ("spark", ()), ("hybrid", ("--leg", "live"))]
)
def test_offsets_are_a_value_of_starting_offsets(
    kind: str, part: tuple[str, ...], stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped(kind).copy(tmp_path)
    end = {copy.topic: {"0": READ // 2, "1": READ // 2}}
    assert splice(capsys, "offsets", copy.path) == (
        0,
        json.dumps(end, separators=(",", ":")) + "\n",
    )
    batch = copy.batches()[-2]
    code, out = splice(capsys, "offsets", copy.path, "--batch", batch, "--source", 0, *part)
    position = copy.position(batch)
    assert code == 0
    assert json.loads(out) == (position["legs"]["live"] if part else position)


def test_offsets_within_a_history_are_no_value_of_starting_offsets(capsys: Output) -> None:
    checkpoint = Path(__file__).parents[2] / "fixtures/kept-0.1.0/fill/checkpoint"
    code, out = splice(capsys, "offsets", checkpoint, "--batch", 3)
    assert (code, "the other offsets of fill-orders-0 before 19" in out) == (2, True), out
    code, out = splice(capsys, "offsets", checkpoint)
    assert (code, json.loads(out)) == (0, {"fill-orders": {"0": 25, "1": 25}})


def test_diff_has_the_changes_per_partition(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("spark").copy(tmp_path / "one")
    first, second = (copy.position(batch)[copy.topic] for batch in (0, 1))
    code, out = splice(capsys, "diff", copy.path, 0, 1)
    assert code == 0
    for partition in range(PARTITIONS):
        before, after = first[str(partition)], second[str(partition)]
        line = f"source 0: {copy.topic} {partition}: {before} -> {after} (+{after - before})"
        assert line in out.splitlines()
    assert splice(capsys, "diff", copy.path, 1, 1) == (0, "no difference\n")
    other = stopped("spark").copy(tmp_path / "other")
    last = other.batches()[-1]
    other.delete(f"offsets/{last}")
    other.delete(f"commits/{last}")
    assert "(-5)" in splice(capsys, "diff", copy.path, other.path)[1]


def test_arguments_that_do_not_fit_are_errors(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("hybrid").copy(tmp_path)
    for arguments, text in (
        (("show", tmp_path), "SPLICE_CHECKPOINT.NOT_FOUND"),
        (("diff", copy.path, 0, 99), "Batch 99 is not in the checkpoint"),
        (("diff", copy.path, "x", 1), "'x' is not the number of a batch. Use two numbers"),
        (("offsets", copy.path, "--leg", "history"), "not a Kafka leg"),
        (("offsets", copy.path, "--source", "7"), "Source '7' is not in the checkpoint"),
        (("verify", copy.path, "--kafka=sasl.mechanism=X"), "bootstrap.servers"),
    ):
        code, out = splice(capsys, *arguments)
        assert (code, text in out) == (2, True), out


def test_offsets_of_many_clusters_need_a_cluster(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("spark").copy(tmp_path)
    last = copy.batches()[-1]
    position = {"v": 1, "change": 0, "clusters": {"east": {"t": {"0": 1}}, "west": {"t": {"0": 2}}}}
    before = json.dumps(copy.position(last), separators=(",", ":"))
    copy.edit(f"offsets/{last}", before, json.dumps(position))
    code, out = splice(capsys, "offsets", copy.path)
    assert (code, "Set --cluster to one of east, west." in out) == (2, True), out
    assert splice(capsys, "offsets", copy.path, "--cluster", "west") == (0, '{"t":{"0":2}}\n')


def test_a_leg_that_has_not_begun_has_no_offsets(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("hybrid").copy(tmp_path)
    for batch in copy.batches():
        if "live" in copy.position(batch)["legs"]:
            copy.delete(f"offsets/{batch}")
            copy.delete(f"commits/{batch}")
    assert copy.batches() != []
    code, out = splice(capsys, "offsets", copy.path, "--leg", "live")
    assert (code, "The query has not begun leg 'live' of source 0." in out) == (2, True), out
    assert "Set --leg" not in out


@pytest.mark.parametrize("kind", ["kafka", "hybrid", "files"])
def test_each_flipped_byte_of_the_side_log_is_found(
    kind: str, stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped(kind).copy(tmp_path)
    entries = [file for file in copy.side_log.rglob("*") if file.is_file()]
    for file in entries:
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(bytes(content))
    damaged = {str(file.relative_to(copy.path)) for file in entries}
    assert len(damaged) >= 5
    assert set(problems(capsys, copy.path)) == damaged


@pytest.mark.parametrize(
    ("kind", "entry", "text"),
    [
        ("kafka", "chain-00000000", "missing"),
        ("kafka", "session", "missing"),
        ("hybrid", "initial", "missing"),
        ("hybrid", "leg-live/hand-over-00000000", "Leg 'live' has begun"),
        ("hybrid", "leg-history/files-00000000", "files-00000000"),
        ("files", "files-end", "files-end"),
    ],
)
def test_each_missing_entry_is_found(
    kind: str, entry: str, text: str, stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped(kind).copy(tmp_path)
    copy.delete(f"{SPLICE}/{entry}")
    found = problems(capsys, copy.path)
    assert any(text in place + what for place, what in found.items()), found


def test_a_missing_slot_layout_before_a_later_layout_is_found(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("hybrid").copy(tmp_path)
    layouts = sorted(copy.side_log.glob("slots-*"))
    layouts[-1].rename(copy.side_log / "slots-00000007")
    assert f"{SPLICE}/slots-{len(layouts) - 1:08}" in problems(capsys, copy.path)


def test_a_missing_side_log_is_a_problem_unless_spark_may_have_no_side_log(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    for kind, missing in (("kafka", []), ("hybrid", [SPLICE]), ("files", [SPLICE])):
        copy = stopped(kind).copy(tmp_path / kind)
        shutil.rmtree(copy.side_log)
        assert list(problems(capsys, copy.path)) == missing


def test_damage_in_the_logs_of_spark_is_found(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    def damaged(name: str) -> Checkpoint:
        return stopped("kafka").copy(tmp_path / name)

    for name in ("offsets/1", "commits/1", f"offsets/{damaged('all').batches()[-1]}"):
        copy = damaged(name.replace("/", "-"))
        copy.delete(name)
        assert list(problems(capsys, copy.path)) == [name]
    copy = damaged("metadata")
    copy.delete("metadata")
    assert list(problems(capsys, copy.path)) == ["metadata"]
    copy = damaged("checksum")
    with (copy.path / "offsets" / "1").open("r+b") as file:
        file.write(b"x")
    assert "Spark cannot read the file" in problems(capsys, copy.path)["offsets/1"]
    copy = damaged("truncated")
    copy.edit("offsets/1", (copy.path / "offsets" / "1").read_text(), "v1")
    assert "truncated" in problems(capsys, copy.path)["offsets/1"]
    copy = damaged("open")
    for batch in copy.batches()[-2:]:
        copy.delete(f"commits/{batch}")
    assert list(problems(capsys, copy.path)) == [f"commits/{copy.batches()[-2]}"]


@pytest.mark.parametrize("kind", ["kafka", "spark", "hybrid"])
def test_a_changed_offset_is_found(
    kind: str, stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped(kind).copy(tmp_path)
    last = copy.batches()[-1]
    copy.edit(f"offsets/{last}", f'"0":{READ // 2}', '"0":6')
    (where,) = problems(capsys, copy.path)
    assert where == f"offsets/{last}"


def test_a_leg_that_moved_after_its_end_is_found(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("hybrid").copy(tmp_path)
    files = copy.position(copy.batches()[-1])["legs"]["history"]["files"]
    copy.edit(f"offsets/{copy.batches()[-1]}", f'"files":{files}', f'"files":{files - 1}')
    assert "Leg 'history' is at" in problems(capsys, copy.path)[f"offsets/{copy.batches()[-1]}"]


def test_records_that_the_brokers_deleted_are_found(
    stopped: OfKind, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("spark").copy(tmp_path)
    other = make_topic(PARTITIONS)
    for batch in copy.batches():
        copy.edit(f"offsets/{batch}", copy.topic, other)
    assert (
        "the end of the partition is 0"
        in problems(capsys, copy.path, copy.kafka)[f"partition {other}-0"]
    )
    topics.produce(other, orders(range(READ + UNREAD), PARTITIONS))
    assert problems(capsys, copy.path, copy.kafka) == {}
    topics.delete_records(other, {0: READ // 2 + 2})
    ((where, what),) = problems(capsys, copy.path, copy.kafka).items()
    assert where == f"partition {other}-0"
    assert "2 offsets are no longer available" in what
    assert problems(capsys, copy.path) == {}
    topics.delete(other)
    assert list(problems(capsys, copy.path, copy.kafka)) == [f"topic {other}"]


def test_a_recreated_topic_is_found(
    stopped: OfKind, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("kafka").copy(tmp_path)
    entry = copy.side_log / "identity-00000000"
    known = topics.topic_id(copy.topic)
    # The brokers have another id for the topic than the copy, as after a recreation.
    assert known in entry.read_text()
    other = make_topic(PARTITIONS)
    topics.produce(other, orders(range(READ), PARTITIONS))
    for name in copy.content():
        file = copy.path / name
        if name.startswith("offsets/") and not file.name.startswith("."):
            copy.edit(name, copy.topic, other)
    text = entry.read_text().split("\n", 1)[1].replace(copy.topic, other)
    entry.write_text(_with_digest(text))
    initial = copy.side_log / "initial"
    text = initial.read_text().split("\n", 1)[1].replace(copy.topic, other)
    initial.write_text(_with_digest(text))
    found = problems(capsys, copy.path, copy.kafka)
    assert list(found) == [f"topic {other}"]
    assert "recreated" in found[f"topic {other}"]


def _with_digest(body: str) -> str:
    import hashlib

    return f"splice 1 {hashlib.sha256(body.encode()).hexdigest()[:32]}\n{body}"


def test_changed_and_missing_files_that_are_not_read_yet_are_found(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    query = stopped("files")
    copy = query.copy(tmp_path)
    for batch in copy.batches()[2:]:
        copy.delete(f"offsets/{batch}")
        copy.delete(f"commits/{batch}")
    assert problems(capsys, copy.path) == {}
    listed = sorted(query.history.glob("*.parquet"))
    assert len(listed) == 4
    times = listed[2].stat()
    os.utime(listed[2], (1, 1))
    moved = listed[3].rename(tmp_path / "moved")
    read = listed[0].rename(tmp_path / "read")
    try:
        found = problems(capsys, copy.path)
    finally:
        moved.rename(listed[3])
        read.rename(listed[0])
        os.utime(listed[2], ns=(times.st_atime_ns, times.st_mtime_ns))
    assert {place.rsplit("/", 1)[1] for place in found} == {listed[2].name, listed[3].name}
    assert problems(capsys, copy.path) == {}


def test_kept_checkpoints_are_readable(spark: object, capsys: Output) -> None:
    assert len(KEPT) >= 10
    for checkpoint in KEPT:
        found = problems(capsys, checkpoint)
        # The folders of the histories existed only when the checkpoints were created.
        assert all("parquet" in place or "json" in place for place in found), (checkpoint, found)
        assert splice(capsys, "show", checkpoint)[0] == 0
    dynamic = next(path for path in KEPT if path.parent.name == "dynamic")
    copied = splice(capsys, "offsets", dynamic, "--cluster", "west")
    assert copied == (0, '{"dynamic-west":{"0":10,"1":10}}\n')


def test_the_command_starts_its_own_session(stopped: OfKind, tmp_path: Path) -> None:
    copy = stopped("spark").copy(tmp_path)
    command = [sys.executable, "-m", "splice", "checkpoint", "verify", str(copy.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 problems"), done.stderr
    assert ARCHIVED < READ


def test_an_unreadable_last_commit_is_a_problem(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("kafka").copy(tmp_path)
    last = copy.batches()[-1]
    copy.delete(f"commits/{last}")
    (copy.path / "commits" / str(last)).write_text("v1\n")
    found = problems(capsys, copy.path)
    assert found == {f"commits/{last}": "Spark cannot read the file, so the next start fails."}


def test_brokers_that_do_not_respond_are_a_problem_beside_local_problems(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("kafka").copy(tmp_path)
    copy.delete(f"commits/{copy.batches()[0]}")
    dead = f"--servers=127.0.0.1:{free_ports(1)[0]}"
    found = problems(capsys, copy.path, dead, "--kafka=default.api.timeout.ms=2000")
    assert set(found) == {f"commits/{copy.batches()[0]}", "brokers"}
