# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks what no linter knows: the header of every source file and the rules of the house.

With --fix it adds the missing headers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HEADER = ("Copyright the Splice authors.", "SPDX-License-Identifier: Apache-2.0")
COMMENTS = {".scala": "//", ".java": "//", ".sbt": "//", ".py": "#"}
LONGEST = 400
VAGUE = re.compile(r"(?i)(^|[/_.])(utils?|commons?|helpers?)([/_.]|$)")


class Rule(NamedTuple):
    """A text that a set of files must not hold."""

    files: re.Pattern[str]
    text: re.Pattern[str]
    reason: str


RULES = (
    Rule(
        re.compile(r"\.(scala|java)$"),
        re.compile(r"^\s*package\s+org\.apache\.spark\b"),
        "no class of ours lives under org.apache.spark: its internals may change",
    ),
    Rule(
        re.compile(r"^jvm/(?!bench/).*/src/main/.*\.(scala|java)$"),
        re.compile(r"^\s*import\s+org\.apache\.spark\.sql\.execution\.streaming\b"),
        "org.apache.spark.sql.execution.streaming moves between Spark's versions",
    ),
    Rule(
        # These hold the state of one reader, which its loops read for each record.
        re.compile(
            r"^jvm/(?!bench/|testkit/).*/src/main/"
            r"(?!.*/(OpenRange|ReadCounts|RecordBytes|RecordWindow|SpliceReaderFactory|"
            r"WaitingGroups)\.scala$).*\.scala$"
        ),
        re.compile(r"^  (final |override |@volatile )*var "),
        "a variable of a class is private",
    ),
    Rule(
        re.compile(r"/src/test/.*\.(scala|java)$"),
        re.compile(r"\bThread\.sleep\("),
        "a test waits for a condition, not for a time",
    ),
)


def header(path: str) -> str:
    """Writes the header for a file, in the comments of its language."""
    mark = COMMENTS[Path(path).suffix]
    return "".join(f"{mark} {line}\n" for line in HEADER)


def without_header(path: str, text: str) -> bool:
    """Says whether the header is missing, allowing a #! line before it."""
    body = text.split("\n", 1)[1] if text.startswith("#!") else text
    return not body.startswith(header(path))


def with_header(path: str, text: str) -> str:
    """Puts the header in front, after a #! line if there is one."""
    first, body = text.split("\n", 1) if text.startswith("#!") else ("", text)
    return (first + "\n" if first else "") + header(path) + ("\n" if body.strip() else "") + body


def complaints(path: str, text: str) -> list[str]:
    """Lists what a source file does wrong."""
    found = []
    if without_header(path, text):
        found.append(f"{path}:1: the header is missing: make fmt adds it")
    lines = text.splitlines()
    if len(lines) > LONGEST:
        found.append(f"{path}:{LONGEST}: {len(lines)} lines, more than {LONGEST}: split it")
    if VAGUE.search(path):
        found.append(f"{path}:1: util, common, helpers say nothing: name it by its noun")
    for rule in RULES:
        if rule.files.search(path):
            hits = (number for number, line in enumerate(lines, 1) if rule.text.search(line))
            found += [f"{path}:{number}: {rule.reason}" for number in hits]
    return found


def main() -> int:
    """Checks every source file that git knows of or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    paths = [p for p in sorted(set(listed)) if Path(p).suffix in COMMENTS and Path(p).exists()]
    if "--fix" in sys.argv:
        for path in paths:
            text = Path(path).read_text()
            if without_header(path, text):
                Path(path).write_text(with_header(path, text))
    found = [complaint for path in paths for complaint in complaints(path, Path(path).read_text())]
    print("\n".join([*found, f"{len(paths)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
