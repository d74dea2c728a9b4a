# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Side-log entries on HDFS and S3: one writer wins, and a failed write leaves no file."""

from __future__ import annotations

from pathlib import Path

from servers.storage.s3 import S3Store
from servers.storage.store import Store
from stores import entries


def test_of_drivers_that_race_one_wins(store: Store) -> None:
    _assert_one_wins(entries.run("race", store.url("race"), store.conf, store.jars))


def test_of_drivers_that_race_on_a_local_disk_one_wins(tmp_path: Path) -> None:
    # With the jars of PySpark, the local file system is a class of Hive.
    _assert_one_wins(entries.run("race", (tmp_path / "race").as_uri(), {}))


def test_a_write_that_fails_publishes_nothing(store: Store) -> None:
    if isinstance(store, S3Store):
        store.fail_uploads()
    conf = {**store.conf, "fs.s3a.multipart.size": "5M"}
    lines = entries.run("fail", store.url("full"), conf, store.jars)
    assert [line for line in lines if line.startswith("failed ")], lines
    assert not [line for line in lines if line.startswith(("file ", "written"))], lines


def _assert_one_wins(lines: list[str]) -> None:
    rounds = [line for line in lines if line.startswith("round ")]
    assert len(rounds) == 20
    assert all(line.count("driver") == 1 for line in rounds), rounds
    assert sorted(line for line in lines if line.startswith("file ")) == sorted(
        f"file entry-{n}" for n in range(20)
    )
