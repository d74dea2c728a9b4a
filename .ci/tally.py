# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Add up the JUnit reports of sbt and pytest.

Usage: tally.py failed, or tally.py summary PASSED FAILED. The second form adds the two numbers to
the tests of the reports. The summary lists the slowest tests, and each failed test with the first
lines of its failure. The exit code is 1 if a test failed or no test ran.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

REPORTS = (
    "target/test-reports/*.xml",
    "jvm/*/target/test-reports/*.xml",
    "tests/*/target/test-reports/*.xml",
)
_LINES = 12
_SLOWEST = 20


class Count(NamedTuple):
    """Numbers of passed, failed and skipped tests."""

    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def count(root: Path) -> Count:
    """Add up all reports in a folder."""
    suites = _suites(root)
    total = {
        name: sum(int(suite.get(name) or 0) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    }
    failed = total["failures"] + total["errors"]
    return Count(total["tests"] - failed - total["skipped"], failed, total["skipped"])


def failures(root: Path) -> Iterator[str]:
    """Yield a paragraph for each failed test."""
    for suite in _suites(root):
        for case in suite.iter("testcase"):
            for why in (*case.findall("failure"), *case.findall("error")):
                text = (why.get("message") or "") + "\n" + (why.text or "")
                lines = [line for line in text.splitlines() if line.strip()][:_LINES]
                name = f"{case.get('classname')}: {case.get('name')}"
                yield "\n    ".join([f"FAILED {name}", *lines])


def slowest(root: Path) -> list[str]:
    """Return a line with the duration in seconds for each of the slowest tests."""
    times = [
        (float(case.get("time") or 0), f"{case.get('classname')}: {case.get('name')}")
        for suite in _suites(root)
        for case in suite.iter("testcase")
    ]
    return [f"{time:7.1f} s  {name}" for time, name in sorted(times, reverse=True)[:_SLOWEST]]


def _suites(root: Path) -> list[Element]:
    files = sorted(file for pattern in REPORTS for file in root.glob(pattern))
    return [
        suite for file in files for suite in ElementTree.parse(file).getroot().iter("testsuite")
    ]


def main(arguments: list[str]) -> int:
    """Print the number of failed tests, or the summary."""
    tests = count(Path.cwd())
    if arguments == ["failed"]:
        print(tests.failed)
        return 0
    passed, failed = map(int, arguments[1:])
    total = Count(tests.passed + passed, tests.failed + failed, tests.skipped)
    print("The slowest tests:", *slowest(Path.cwd()), sep="\n")
    for failure in failures(Path.cwd()):
        print(failure)
    print(total)
    return 1 if total.failed or not tests.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
