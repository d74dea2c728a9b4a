# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""``set-position``: the rows that a restarted query reads, and the rejections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.checkpoints.conftest import OfKind
from cli.checkpoints.stopped import (
    ARCHIVED,
    PARTITIONS,
    READ,
    UNREAD,
    Checkpoint,
    of_offsets,
    splice,
)

LOGS = ("kafka", "spark", "hybrid")
END = READ // PARTITIONS
LAST = (READ + UNREAD) // PARTITIONS
Output = pytest.CaptureFixture[str]


def set_position(
    capsys: Output, copy: Checkpoint, *arguments: object, quiet: int = 0
) -> tuple[int, str]:
    """Run the command for a copy of a checkpoint of a stopped query."""
    return splice(capsys, "set-position", copy.path, "--quiet", quiet, *arguments)


@pytest.mark.parametrize("kind", LOGS)
def test_the_next_batch_begins_at_the_new_offsets(
    kind: str, stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    query = stopped(kind)
    copy = query.copy(tmp_path)
    before = copy.content()
    offsets = json.dumps({copy.topic: {"0": 7, "1": END + 2}})
    change = ("--offsets", offsets, copy.kafka)
    code, out = set_position(capsys, copy, *change)
    assert code == 0
    assert f"{copy.topic} 0: {END} -> 7 (-{END - 7})" in out
    assert f"reads {END - 7} offsets again" in out
    assert "skips 2 offsets" in out
    assert out.endswith("nothing written; use --write to write\n")
    assert copy.content() == before
    assert list(tmp_path.iterdir()) == [copy.path]
    code, out = set_position(capsys, copy, *change, "--write")
    assert code == 0, out
    (backup,) = tmp_path.glob("checkpoint.backup-*")
    saved = {
        str(file.relative_to(backup)): file.read_bytes()
        for file in backup.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }
    logs = {name: text for name, text in before.items() if name.startswith(("offsets/", "commits"))}
    assert saved == {name: text for name, text in logs.items() if "/." not in name}
    assert not list(copy.path.rglob("*.tmp*"))
    assert query.resume(copy) == sorted(
        of_offsets(0, range(7, LAST)) + of_offsets(1, range(END + 2, LAST))
    )


@pytest.mark.parametrize("kind", ["kafka", "spark"])
def test_a_batch_is_read_again(kind: str, stopped: OfKind, tmp_path: Path, capsys: Output) -> None:
    query = stopped(kind)
    copy = query.copy(tmp_path)
    batch = copy.batches()[-3]
    starts = copy.position(batch)[copy.topic]
    change = ("--batch", batch, copy.kafka, "--write", "--backup", tmp_path / "saved")
    assert set_position(capsys, copy, *change)[0] == 0
    assert (tmp_path / "saved" / "offsets" / "0").exists()
    wanted = [one for p in range(2) for one in of_offsets(p, range(starts[str(p)], LAST))]
    assert query.resume(copy) == sorted(wanted)


@pytest.mark.parametrize("kind", LOGS)
def test_a_batch_without_a_commit_is_replaced_only_on_request(
    kind: str, stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    query = stopped(kind)
    copy = query.copy(tmp_path)
    last = copy.batches()[-1]
    copy.delete(f"commits/{last}")
    before = copy.content()
    change = ("--topic", copy.topic, "--partition", 0, "--offset", END + 1, copy.kafka, "--write")
    code, out = set_position(capsys, copy, *change)
    assert code == 1
    assert f"Batch {last} has no commit" in out
    assert copy.content() == before
    code, out = set_position(capsys, copy, *change, "--discard-uncommitted")
    assert code == 0, out
    assert copy.batches()[-1] == last - 1
    position = copy.position(last - 1)
    (other,) = (position["legs"]["live"] if kind == "hybrid" else position).values()
    assert query.resume(copy) == sorted(
        of_offsets(0, range(END + 1, LAST)) + of_offsets(1, range(other["1"], LAST))
    )


def test_changes_that_lose_the_meaning_of_the_position_are_rejected(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("hybrid").copy(tmp_path)
    before = copy.content()

    def one(offset: int) -> tuple[object, ...]:
        return ("--topic", copy.topic, "--partition", 0, "--offset", offset, "--write")

    for arguments, quiet, text in (
        ((*one(LAST + 1), copy.kafka), 0, f"the end of the partition is {LAST}"),
        ((*one(ARCHIVED - 1), copy.kafka), 0, "hand-over-00000000"),
        (one(7), 0, "Set --servers"),
        ((*one(7), copy.kafka), 3600, "Stop the query"),
    ):
        code, out = set_position(capsys, copy, *arguments, quiet=quiet)
        assert (code, text in out) == (1, True), out
    for arguments, text in (
        (one(END), "has these offsets already"),
        (("--topic", copy.topic, "--partition", 5, "--offset", 1), "partition 5 of topic"),
        (("--offsets", '{"other":{"0":1}}'), "topic 'other' is not in the position"),
        ((*one(7), "--leg", "history"), "leg 'history' is not the current leg, which is live"),
        (("--batch", 0, "--write"), "was in another leg"),
    ):
        code, out = set_position(capsys, copy, *arguments)
        assert (code, text in out) == (2, True), out
    assert copy.content() == before
    assert list(tmp_path.iterdir()) == [copy.path]


def test_offsets_may_be_written_without_a_check(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("spark").copy(tmp_path)
    offsets = json.dumps({copy.topic: {"0": 10_000}})
    code, _ = set_position(capsys, copy, "--offsets", offsets, "--unchecked", "--write")
    assert code == 0
    assert copy.position(copy.batches()[-1])[copy.topic] == {"0": 10_000, "1": END}


@pytest.mark.parametrize(("old", "new"), [(',"1":', ',"01":'), (',"1":10', "")])
def test_a_batch_without_the_partitions_of_the_position_is_rejected(
    stopped: OfKind, tmp_path: Path, capsys: Output, old: str, new: str
) -> None:
    # A zero before a partition marks offsets of another topic of the same name.
    copy = stopped("kafka").copy(tmp_path)
    first = copy.batches()[0]
    copy.edit(
        f"offsets/{first}", old.replace("10", str(copy.position(first)[copy.topic]["1"])), new
    )
    before = copy.content()
    code, out = set_position(capsys, copy, "--batch", first, copy.kafka, "--write")
    assert code == 2
    assert f"batch {first} has no offset of {copy.topic} 1" in out
    assert copy.content() == before


def test_state_and_stored_skips_are_warnings(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("kafka").copy(tmp_path)
    (copy.path / "state" / "0").mkdir(parents=True)
    lines = [json.dumps({copy.topic: {"0": offset}}, separators=(",", ":")) for offset in (3, 9)]
    copy.add("skips-00000000", lines)
    code, out = set_position(
        capsys, copy, "--topic", copy.topic, "--partition", 0, "--offset", 7, copy.kafka
    )
    assert code == 0, out
    assert "The query has state." in out
    assert "skips-<n> skips the offsets 3 to 8" in out


def test_a_backup_that_cannot_be_written_prevents_the_change(
    stopped: OfKind, tmp_path: Path, capsys: Output
) -> None:
    copy = stopped("kafka").copy(tmp_path)
    before = copy.content()
    (tmp_path / "file").touch()
    change = ("--topic", copy.topic, "--partition", 0, "--offset", 7, copy.kafka, "--write")
    code, _ = set_position(capsys, copy, *change, "--backup", tmp_path / "file" / "backup")
    assert code == 2
    assert copy.content() == before
