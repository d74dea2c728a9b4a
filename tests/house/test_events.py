# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The documents name only events of the query history that exist, and one table lists them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MAIN = ROOT / "jvm"
CHANGES = "dynamic-kafka/src/main/scala/splice/kafka/dynamic/internal/state/ChangeDescription.scala"
SWITCHES = "hybrid/src/main/scala/splice/hybrid/HybridSourceProvider.scala"

_LIST = r"(?:`[^`]+`(?:, and |, | and | or )?)+"
_NAMED = re.compile(rf"\b[Ee]vents? (?:are (?:for example )?)?({_LIST})")
_TABLE = re.compile(r"^\| Event \|.*\n\| --- \|.*\n((?:\|.*\n)+)", re.MULTILINE)


def changes() -> set[str]:
    """Return the events of clusters, streams and topics."""
    return set(re.findall(r'\b(?:list|topics)\(\s*"(\w+)"', (MAIN / CHANGES).read_text()))


def switches() -> set[str]:
    """Return the events of a hybrid."""
    return set(re.findall(r'val Switch = "(\w+)"', (MAIN / SWITCHES).read_text()))


def listed(text: str) -> list[str]:
    """Return the names in the first column of the tables of events."""
    rows = "".join(_TABLE.findall(text)).splitlines()
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def named(text: str) -> list[str]:
    """Return the names that a document calls events, in tables and in sentences."""
    plain = re.sub(r"\s+", " ", text)
    sentences = [
        name for names in _NAMED.findall(plain) for name in re.findall(r"`([^`]+)`", names)
    ]
    return listed(text) + sentences


def unnamed(text: str) -> list[str]:
    """Return the mentions of the history by a name that no function has."""
    return re.findall(r"`history` (?:has|lists|contains|names)\b|\bof `history`", text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("has the events `topicAdded`\nand `topic gone`.", ["topicAdded", "topic gone"]),
        ("a warning and the event `topicAdded` of", ["topicAdded"]),
        ("Events are `a` and `b`. An event `c` is", ["a", "b", "c"]),
        ("| Event | Meaning |\n| --- | --- |\n| `a`, `b` | `c` |\n\n`d`", ["a", "b"]),
        ("the event time of `column`", []),
    ],
)
def test_the_names_of_events_are_found(text: str, names: list[str]) -> None:
    assert named(text) == names


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_each_event_of_a_page_exists(page: Path) -> None:
    assert set(named(page.read_text())) - changes() - switches() == set()
    assert unnamed(page.read_text()) == []


def test_the_page_of_many_clusters_lists_each_event_once() -> None:
    page = (DOCS / "dynamic-kafka.md").read_text()
    assert len(changes()) > 15
    assert sorted(listed(page)) == sorted(changes())


def test_the_page_of_names_lists_each_event_once() -> None:
    names = (DOCS / "reference" / "names.md").read_text()
    rows = names.split("\nValues of the column `event`", 1)[1].split("\n## ", 1)[0].splitlines()
    cells = [re.findall(r"`(\w+)`", row) for row in rows if row.startswith("| `")]
    assert sorted(cells) == sorted([name, name] for name in changes() | switches())
