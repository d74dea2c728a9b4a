# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Check the header of every source file, and rules of this repository that no linter has.

With --fix, the program adds missing headers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

HEADER = ("Copyright the Splice authors.", "SPDX-License-Identifier: Apache-2.0")
PYTHON = re.compile(r"^(python/(src|tests)|tests)/")
COMMENTS = {".scala": "//", ".java": "//", ".sbt": "//", ".py": "#"}
LONGEST = 300
LONGEST_TEST = 400
FULLEST = 12
INTERNAL = re.compile(r"/src/main/scala/(splice/(?:\w+/)*internal(?:/\w+)*)/\w+\.scala$")
IMPORT = re.compile(r"^import (splice(?:\.[a-z]\w*)*\.internal(?:\.[a-z]\w*)*)\.", re.MULTILINE)
MAIN = re.compile(r"^jvm/([\w-]+)/src/main/.*\.(?:scala|java)$")
SCALA_TEST = re.compile(r"/src/test/.*\.scala$")
PYTHON_TEST = re.compile(r"^(python/)?tests/.*\.py$")
# Seconds below 60.
SHORT = r"[1-5]?\d"
VAGUE = re.compile(r"(?i)(^|[/_.])(utils?|commons?|helpers?)([/_.]|$)")


CPU_SECONDS = {"lint": 295, "unit": 1220, "build": 60, "it": 2140, "docs": 5, "demo": 65}
"""Ceiling of the CPU time of each step of CI. State the reason of a raise here.

The figures are of a machine on which a life of ``DynamicLifeSuite`` takes 93 ms of CPU time. The
ceiling of the demonstration rose because its first value was an estimate. The ceiling of ``unit``
rose by 60 for 900 more lives of chains, and for kills, rollbacks and bounded reads of counted legs.
The ceilings of ``lint``, ``unit`` and ``it`` rose by 85 for ``admission=eventTime``: its code, the
lives of clusters that are read by time, and its tests with brokers. The ceiling of ``it`` rose by
120 for tables of real formats: changes and kills of a table of Delta, and one query per other kind.
"""

MAIN_LINES = {
    "coordinator": 2229,  # The folder of a side log for files of other software (`SideLog.folder`).
    "dynamic-kafka": 11094,  # Batches of all clusters that end at one time (`admission=eventTime`).
    "files": 6415,  # Watched folders: the last batch of a sink, listings without a response.
    "hybrid": 6520,  # A warning of repeated batches of a leg that may skip files, behind a switch.
    "kafka": 12625,  # Batches that end at one time, and `delayNeededMs`.
    "source": 4967,  # `FailOrWarn`, the type of six policies of other modules; `Poller`.
    "spark": 3744,
    "streams": 966,  # Starts at an offset are checked before a switch is stored.
    "tables": 2105,  # The offset of the stream of Iceberg after a snapshot (`IcebergLine`).
}
"""Ceiling of the lines of main code of each module. State the reason of a raise here.

A change that needs fewer lines lowers the ceiling.
"""

LONG = {
    "kafka/dynamic/internal/change/ChangeRules.scala": 387,
    "kafka/dynamic/internal/cluster/ClusterResponse.scala": 329,
    "kafka/dynamic/internal/cluster/ClusterWorker.scala": 400,
    "kafka/dynamic/internal/enumerator/DynamicEnumerator.scala": 375,
    "kafka/dynamic/internal/enumerator/MetadataApplier.scala": 371,
    "kafka/dynamic/internal/state/AppliedMetadataFormat.scala": 303,
    "kafka/dynamic/internal/state/TopicState.scala": 334,
    "hybrid/internal/enumerator/HybridEnumerator.scala": 365,
    "kafka/internal/enumerator/KafkaEnumerator.scala": 331,
    "kafka/internal/reader/SlotReader.scala": 360,
    "testkit/simulation/SimulatedSpark.scala": 393,
}
"""Ceiling of each file of main code with more than LONGEST lines. No file may be added."""


class Rule(NamedTuple):
    """Text that a set of files must not contain."""

    files: re.Pattern[str]
    text: re.Pattern[str]
    reason: str


RULES = (
    Rule(
        re.compile(r"\.(scala|java)$"),
        re.compile(r"^\s*package\s+org\.apache\.spark\b"),
        "classes of Splice are not in org.apache.spark, whose internals may change",
    ),
    Rule(
        re.compile(r"^jvm/(?!bench/).*/src/main/.*\.(scala|java)$"),
        re.compile(r"^\s*import\s+org\.apache\.spark\.sql\.execution\.streaming\b"),
        "org.apache.spark.sql.execution.streaming differs between versions of Spark",
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
    Rule(
        SCALA_TEST,
        re.compile(
            rf"\bSpan\({SHORT}, Seconds\)"
            rf"|\b(?:await\w*|get|tryAcquire|waitFor)\([^()]*\b{SHORT}, TimeUnit\.SECONDS\)"
            rf"|\b(?:eventually|until)\(.*\bofSeconds\({SHORT}\)"
            rf"|\bAwait\.(?:ready|result)\(.*\b{SHORT}\.seconds\)"
            rf"|\.join\({SHORT}000\)"
        ),
        "a wait has a limit of at least 60 seconds (Patient), because a machine may be slow",
    ),
    Rule(
        SCALA_TEST,
        re.compile(
            r"\bassert\(.*\b(?:nanoTime|currentTimeMillis)\(\) - .*<"
            r"|\bassert\(\(?(?:elapsed|millis|took)\b.*<"
        ),
        "a machine may be slow: count requests, simulate a clock, or use Patient.timed",
    ),
    Rule(
        SCALA_TEST,
        re.compile(
            r"\bonSpinWait\(|\bwhile \(.*\b(?:nanoTime|Instant\.now)\(\)(?!.*\b(?:poll|wait)\()"
        ),
        "a loop without a pause delays the awaited threads: use Patient.until",
    ),
    Rule(
        PYTHON_TEST,
        re.compile(rf"\bwait_for\(.*, (?:timeout=)?{SHORT}\)$"),
        "a wait has a limit of at least 60 seconds, because a machine may be slow",
    ),
    Rule(
        PYTHON_TEST,
        re.compile(r"^\s*assert\b.*\b(?:monotonic|perf_counter|time)\(\) - .*<"),
        "a machine may be slow: count events, or simulate a clock",
    ),
)


def header(path: str) -> str:
    """Return the header of a file, in the comment syntax of its language."""
    mark = COMMENTS[Path(path).suffix]
    return "".join(f"{mark} {line}\n" for line in HEADER)


def without_header(path: str, text: str) -> bool:
    """Return True if the header is missing. A #! line may precede the header."""
    body = text.split("\n", 1)[1] if text.startswith("#!") else text
    return not body.startswith(header(path))


def with_header(path: str, text: str) -> str:
    """Return the text with the header at its beginning, after a #! line if the text has one."""
    first, body = text.split("\n", 1) if text.startswith("#!") else ("", text)
    return (first + "\n" if first else "") + header(path) + ("\n" if body.strip() else "") + body


def complaints(path: str, text: str) -> list[str]:
    """Return the complaints about a source file."""
    found = []
    if without_header(path, text):
        found.append(f"{path}:1: the header is missing: run make fmt")
    lines = text.splitlines()
    if len(lines) > (most := _longest(path)):
        found.append(f"{path}:{most}: {len(lines)} lines, more than {most}: split it")
    if VAGUE.search(path):
        found.append(f"{path}:1: the name is not specific: name the file after its concept")
    for rule in RULES:
        if rule.files.search(path):
            hits = (number for number, line in enumerate(lines, 1) if rule.text.search(line))
            found += [f"{path}:{number}: {rule.reason}" for number in hits]
    return found


def _longest(path: str) -> int:
    if not MAIN.match(path):
        return LONGEST_TEST
    return next((most for end, most in LONG.items() if path.endswith(end)), LONGEST)


def full_folders(paths: list[str]) -> list[str]:
    """Return an error for each folder with too many files of Scala, Java or Python."""
    sizes = Counter(str(Path(path).parent) for path in paths if _counts(path))
    return [
        f"{folder}: {size} files, more than {FULLEST}: split the folder"
        for folder, size in sorted(sizes.items())
        if size > FULLEST
    ]


def long_modules(texts: dict[str, str]) -> list[str]:
    """Return an error for each module with more lines of main code than its ceiling."""
    lines: Counter[str] = Counter()
    for path, text in texts.items():
        if of_main := MAIN.match(path):
            lines[of_main[1]] += len(text.splitlines())
    return [
        f"jvm/{module}: {lines[module]} lines of main code, more than {ceiling}: delete lines, or"
        " raise the ceiling with a reason"
        for module, ceiling in MAIN_LINES.items()
        if lines[module] > ceiling
    ]


def _counts(path: str) -> bool:
    # A package marker and the fixtures of pytest have fixed names, so these files do not count.
    if path.endswith(".py"):
        fixed = Path(path).name in ("__init__.py", "conftest.py")
        return not fixed and PYTHON.match(path) is not None
    return re.search(r"/src/(main|test)/.*\.(scala|java)$", path) is not None


def package_cycles(texts: dict[str, str]) -> list[str]:
    """Return a cycle of imports among the internal packages; empty if no cycle exists."""
    imported: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        if own := INTERNAL.search(path):
            package = own[1].replace("/", ".")
            imported[package] |= set(IMPORT.findall(text)) - {package}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return [f"internal packages import each other: {' <- '.join(error.args[1])}"]
    return []


def repository_files(*limits: str) -> list[str]:
    """Return the files that git tracks or would add, limited to files and folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *limits]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [path for path in sorted(set(listed.splitlines())) if Path(path).exists()]


def main() -> int:
    """Check every source file of the repository."""
    paths = [path for path in repository_files() if Path(path).suffix in COMMENTS]
    if "--fix" in sys.argv:
        for path in paths:
            text = Path(path).read_text()
            if without_header(path, text):
                Path(path).write_text(with_header(path, text))
    texts = {path: Path(path).read_text() for path in paths}
    found = [complaint for path, text in texts.items() for complaint in complaints(path, text)]
    found += full_folders(paths) + long_modules(texts) + package_cycles(texts)
    print("\n".join([*found, f"{len(paths)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
