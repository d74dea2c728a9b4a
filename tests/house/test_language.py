# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The check of the language finds texts in each kind of file, and matches by its rules."""

from __future__ import annotations

from pathlib import Path

import pytest

import language


def texts(path: str, text: str) -> list[tuple[str, str]]:
    """Return kind and text of each sentence of a file."""
    reader = {".scala": language.scala, ".py": language.python, ".md": language.markdown}
    return [(s.kind, s.text) for s in reader[Path(path).suffix](path, text)]


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("The broker returns the end of the log.", 0),
        ("The broker answers with the end of the log.", 1),
        ("What a source reads is in the log.", 2),
        ("Where a source begins is an option.", 1),
        ("Tasks read two rows a batch.", 1),
        ("The reader " + "reads and " * 30 + "ends.", 1),
        ("The position is no longer in the log.", 0),
    ],
)
def test_a_sentence_has_its_matches(text: str, matches: int) -> None:
    assert len(language.faults(language.Sentence("docs", "a.md", 1, text))) == matches


def test_comments_messages_and_test_names_of_scala_are_read() -> None:
    code = (
        "/** Returns the end.\n  * The end is fixed.\n  */\n"
        'val a = "the log has no end" // A short reason here.\n'
    )
    assert texts("jvm/kafka/src/main/scala/A.scala", code) == [
        ("messages", "the log has no end"),
        ("comments", "Returns the end."),
        ("comments", "The end is fixed."),
        ("comments", "A short reason here."),
    ]
    assert ("tests", "a name of a test") in texts(
        "jvm/kafka/src/test/A.scala", 'test("a name of a test") {}'
    )


def test_docstrings_and_messages_of_python_are_read() -> None:
    code = '"""Read the whole log."""\nwhy = f"the option {name} is missing"\n'
    assert texts("python/src/splice/a.py", code) == [
        ("messages", "the option X is missing"),
        ("comments", "Read the whole log."),
    ]


def test_documents_are_read_without_code_and_links() -> None:
    page = (
        "# The end\n\nRead [the whole log](a.md) first. Then `stop` the query.\n\n"
        "```\nWhat is this\n```\n"
    )
    assert [text for _, text in texts("docs/a.md", page)] == [
        "Read [the whole log] first.",
        "Then X the query.",
    ]
