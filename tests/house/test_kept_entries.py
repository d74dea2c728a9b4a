# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each kind of side-log entry and each form of an offset is in a kept checkpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "source",
    "coordinator",
    "files",
    "streams",
    "tables",
    "kafka",
    "dynamic-kafka",
    "hybrid",
    "spark",
)
FIXTURES = ROOT / "tests" / "fixtures"
DYNAMIC = ROOT / "jvm/dynamic-kafka/src/test/resources/splice/kafka/dynamic/kept"

TEMPORARY = {"stale"}
"""Kinds that no restart and no repeated batch reads."""

ENTRIES_ONLY = {"position"}
"""Kinds without a kept run, because a real entry has more than 100,000 characters.

Splice's writer has written the kept entries of `DYNAMIC` with a lower limit.
"""

_CODE = r'(?:"([a-z-]+)"|((?:[A-Z]\w*\.)?[A-Z]\w*))'
_NUMBERED = re.compile(rf"new NumberedEntries(?:\[\w+\])?\([\w.]+, {_CODE}\)")
_SINGLE = re.compile(rf"new SingleEntry\([\w.]+, {_CODE}\)")
_STORED = re.compile(rf"getOrCreate\({_CODE}\)")
_SCOPE = re.compile(r'scope\(s"([a-z]+)-\$')


def sources() -> dict[Path, str]:
    """Return the Scala files of the modules that write entries."""
    folders = [ROOT / "jvm" / module / "src" / "main" for module in MODULES]
    return {file: file.read_text() for folder in folders for file in folder.rglob("*.scala")}


def value(name: str, file: Path, files: dict[Path, str]) -> str:
    """Return the text of a constant of a file, or of an object in another file of its folder."""
    owner, _, constant = name.rpartition(".")
    texts = [files[file]]
    if owner:
        texts = [t for t in files.values() if re.search(rf"\bobject {owner}\b", t)]
    found: set[str] = {v for t in texts for v in re.findall(rf'val {constant}\s*= "([a-z-]+)"', t)}
    assert len(found) == 1, f"{file.name}: {name} has the values {sorted(found)}"
    return found.pop()


def written() -> set[str]:
    """Return the kinds of entries and scopes that the code writes."""
    files = sources()
    found = set[str]()
    for file, text in files.items():
        for pattern in (_NUMBERED, _SINGLE, _STORED):
            for literal, constant in pattern.findall(text):
                found.add(literal or value(constant, file, files))
        found |= set(_SCOPE.findall(text))
    return found


def documented() -> set[str]:
    """Return the kinds of the table of names."""
    page = (ROOT / "docs" / "reference" / "names.md").read_text()
    table = page.split("\n## Side-log entries\n", 1)[1].split("\n## ", 1)[0]
    names = re.findall(r"^\|[^|]*\| `([^`]+)`", table, re.MULTILINE)
    return {kind(part) for name in names for part in name.split("/") if part}


def kind(name: str) -> str:
    """Return the kind of an entry or a scope, such as `tally` for `tally-00000000`."""
    return re.sub(r"-(<\w+>|\d+)$", "", name)


def kept(*folders: Path) -> set[str]:
    """Return the kinds of the entries and scopes of checkpoints."""
    found = set[str]()
    for folder in folders:
        for log in folder.glob("**/sources/0/splice"):
            parts = {p for f in log.rglob("*") if f.is_file() for p in f.relative_to(log).parts}
            found |= {kind(re.sub(r"^(leg|cluster)-.*", r"\1", part)) for part in parts}
    return found


def offsets(folder: Path) -> Iterator[Any]:
    """Return the offsets of the checkpoints of a folder."""
    for file in folder.glob("**/offsets/*"):
        yield json.loads(file.read_text().splitlines()[-1])


def test_the_code_writes_the_kinds_of_the_table() -> None:
    names = written()
    # The code has the names of these scopes and of the temporary entry in other forms.
    assert names | {"leg", *TEMPORARY} == documented()
    assert {"chain", "files", "files-end", "list", "hand-over", "cluster"} <= names


def test_a_kept_checkpoint_has_each_kind() -> None:
    runs = kept(*FIXTURES.glob("checkpoint-*"), *FIXTURES.glob("kept-*"))
    assert documented() - runs == TEMPORARY | ENTRIES_ONLY
    assert kept(DYNAMIC) >= ENTRIES_ONLY


@pytest.mark.parametrize(
    "form",
    [
        r'^\{"kafka-grown":\{"0":\d+',
        r'"00":\d+',
        r'^\{"files":\d+,"list":1,"v":1\}$',
        r'"partly":\{"\d+:\d+":0',
        r'"partly":\{"\d+:\d+":[1-9]',
        r'^\{"legs":\{"history":.*,"live":',
        r'^\{"change":[1-9]\d*,"clusters":',
        r'^\{"at":"position-\d{8}","change":\d+,"v":1\}$',
    ],
)
def test_a_kept_checkpoint_has_each_form_of_an_offset(form: str) -> None:
    texts = [
        json.dumps(offset, separators=(",", ":"))
        for folder in (FIXTURES, DYNAMIC)
        for offset in offsets(folder)
    ]
    assert any(re.search(form, text) for text in texts)
