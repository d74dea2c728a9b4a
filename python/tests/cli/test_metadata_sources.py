# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options of ``splice metadata``, without Spark."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from splice._internal import jvm_metadata
from splice._internal.jvm_metadata import StoredSource
from splice.cli import OK, USAGE, metadata
from splice.cli.main import main

NO_CHANGE: dict[str, Any] = {
    "streams": [],
    "clusters": [],
    "problems": [],
    "change": 1,
    "events": {},
    "drains": [],
    "rejected": [],
    "waiting": [],
}
DIFF = ["metadata", "diff", "/c", "streams.yaml"]
DRAINED = ["metadata", "drained", "/c", "east"]


@pytest.fixture(autouse=True)
def checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoint with three sources of many clusters."""
    names = ["0/leg-live", "0/leg-Other", "1"]
    sources = [StoredSource(name, "", "{}", None) for name in names]
    monkeypatch.setattr(metadata, "local_session", lambda _: nullcontext())
    monkeypatch.setattr(jvm_metadata, "dynamic_sources", lambda *_: sources)
    monkeypatch.setattr(jvm_metadata, "diff", lambda *_: NO_CHANGE)
    monkeypatch.setattr(jvm_metadata, "drained", lambda *_: {"clusters": ["west"]})


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    file = tmp_path / "query.options"
    file.write_text("live.source=dynamicKafka\nlive.streams=orders\nother.streams=returns\n")
    return ["--options", str(file)]


def test_a_document_is_compared_with_one_source(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in ([], ["--source", "0"]):
        assert main([*DIFF, *arguments]) == USAGE
        assert "0/leg-live, 0/leg-Other" in capsys.readouterr().err
    for arguments, name in (
        (["--source", "1"], "1"),
        ([*options, "--leg", "LIVE"], "0/leg-live"),
        ([*options, "--leg", "other", "--source", "0"], "0/leg-Other"),
    ):
        assert main([*DIFF, *arguments, "--format", "json"]) == OK
        assert [one["source"] for one in json.loads(capsys.readouterr().out)] == [name]


def test_a_source_that_does_not_exist_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (DIFF, DRAINED):
        assert main([*command, "--source", "7"]) == USAGE
        assert "Sources: 0/leg-live, 0/leg-Other, 1." in capsys.readouterr().err


def test_a_leg_without_options_is_an_error(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*DIFF, *options, "--leg", "lvie"]) == USAGE
    assert capsys.readouterr().err == "--leg: the options have no leg 'lvie'.\n"
    assert main([*DIFF, "--leg", "live"]) == USAGE
    assert capsys.readouterr().err == "--leg needs --options.\n"


def test_an_unknown_cluster_prints_no_empty_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(DRAINED) == USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "The checkpoint has no cluster 'east'. Clusters: west\n"


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "x", "²"])
def test_a_timeout_is_a_number_of_seconds(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main([*DIFF, f"--timeout={value}"])
    assert exit_code.value.code == USAGE
    expected = f"argument --timeout: '{value}' is not a number of seconds above 0\n"
    assert capsys.readouterr().err.endswith(expected)
