# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The check of the language finds texts in each kind of file, and matches by its rules."""

from __future__ import annotations

import json

import pytest

import language


def read(path: str, text: str) -> list[language.Sentence]:
    """Return the sentences of the text of a file."""
    reader = language.reader_of(path)
    assert reader
    return list(reader(path, text))


def texts(path: str, text: str) -> list[tuple[str, str]]:
    """Return kind and text of each sentence of a file."""
    return [(s.kind, s.text) for s in read(path, text)]


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


def test_the_names_of_python_tests_are_read() -> None:
    code = (
        "def test_a_leg_ends() -> None:\n    topic = 1\n\n\n"
        "async def test_a_late_row() -> None:\n    test_a_leg_ends()\n"
    )
    assert read("python/tests/test_a.py", code) == [
        language.Sentence("tests", "python/tests/test_a.py", 1, "test a leg ends"),
        language.Sentence("tests", "python/tests/test_a.py", 5, "test a late row"),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "Makefile",
        ".ci/run",
        "project/prerequisites",
        "project/sbt",
        "requirements/dev.in",
        "mkdocs.yml",
        ".pre-commit-config.yaml",
        ".scalafmt.conf",
        ".github/CODEOWNERS",
        ".github/workflows/ci.yml",
    ],
)
def test_comments_of_the_build_are_read(path: str) -> None:
    code = (
        "#!/usr/bin/env bash\n# Copyright the Splice authors.\n#\n# Run one target.\n"
        "# The target has\n# a name.\nrun: all ## Run all tests\n  [ ${#all[@]} = 0 ] # v1.2\n"
    )
    assert [(s.kind, s.line, s.text) for s in read(path, code)] == [
        ("comments", 7, "Run all tests"),
        ("comments", 4, "Run one target."),
        ("comments", 4, "The target has a name."),
    ]


def test_each_error_has_the_line_of_its_condition() -> None:
    text = json.dumps(
        {
            "SPLICE_A": {
                "message": ["The leg <leg> cannot be read."],
                "subClass": {
                    "FIRST": {"message": ["The leg <leg> has", 'no "rows": {1}.']},
                    "SECOND": {"message": ["The leg <leg> has no end."]},
                },
            },
            "SPLICE_B": {"message": ["The leg <leg> has no end."]},
        },
        indent=2,
    )
    lines = text.splitlines()
    found = [
        (lines[s.line - 1].split('"')[1], s.text) for s in read("jvm/a/error-conditions.json", text)
    ]
    assert found == [
        ("SPLICE_A", "The leg X cannot be read."),
        ("FIRST", 'The leg X has no "rows": {1}.'),
        ("SECOND", "The leg X has no end."),
        ("SPLICE_B", "The leg X has no end."),
    ]


def test_a_sample_has_descriptions_of_options_only() -> None:
    page = (
        "| Option | Allowed | Description |\n| --- | --- | --- |\n"
        "| `a` | fail, drain, drop | Policy for a topic. |\n"
    )
    found = read("docs/reference/options.md", page)
    assert [s.text for s in found] == ["fail, drain, drop", "Policy for a topic."]
    assert [s.text for s in language.sampled("options", found)] == ["Policy for a topic."]


def test_documents_are_read_without_code_and_links() -> None:
    page = (
        "# The end\n\nRead [the whole log](a.md) first. Then `stop` the query.\n\n"
        "```\nWhat is this\n```\n"
    )
    assert [text for _, text in texts("docs/a.md", page)] == [
        "Read [the whole log] first.",
        "Then X the query.",
    ]
