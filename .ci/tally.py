# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Add up the JUnit reports of sbt and pytest.

`summary` prints the slowest tests, the tests and seconds of the slowest files, the costs of the
steps, and each failed test with the first lines of its failure. The file
`target/test-reports/files.txt` has the line of each file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
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
_FILES = 40


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
    for case in _cases(root):
        for why in (*case.findall("failure"), *case.findall("error")):
            text = (why.get("message") or "") + "\n" + (why.text or "")
            lines = [line for line in text.splitlines() if line.strip()][:_LINES]
            name = f"{case.get('classname')}: {case.get('name')}"
            yield "\n    ".join([f"FAILED {name}", *lines])


def slowest(root: Path) -> list[str]:
    """Return a line with the duration in seconds for each of the slowest tests."""
    times = [
        (_seconds(case), f"{case.get('classname')}: {case.get('name')}") for case in _cases(root)
    ]
    return [f"{time:7.1f} s  {name}" for time, name in sorted(times, reverse=True)[:_SLOWEST]]


def files(root: Path) -> list[str]:
    """Return a line per suite and per file of pytest: seconds and tests, the slowest first."""
    totals: dict[str, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for case in _cases(root):
        name = case.get("classname") or ""
        time, tests = totals[name]
        totals[name] = time + _seconds(case), tests + 1
    ordered = sorted(((time, tests, name) for name, (time, tests) in totals.items()), reverse=True)
    return [f"{time:8.1f} s {tests:5} tests  {name}" for time, tests, name in ordered]


def steps(costs: Mapping[str, tuple[float, float]], ceilings: Mapping[str, int]) -> list[str]:
    """Return a table of the wall and CPU seconds of each step, the ceilings, and the sums.

    A step above its ceiling by more than 5 % has a mark. The CPU time of a step depends on the
    machine, so it is not a failure.
    """
    wall, cpu = (sum(cost[column] for cost in costs.values()) for column in (0, 1))
    rows = [
        (name, *cost, ceilings[name], "over the ceiling" if cost[1] > 1.05 * ceilings[name] else "")
        for name, cost in costs.items()
    ]
    return [f"{'step':8} {'wall s':>8} {'CPU s':>8} {'ceiling':>8}"] + [
        f"{row[0]:8} {row[1]:8.0f} {row[2]:8.0f} {row[3]:8} {row[4]}".rstrip()
        for row in (*rows, ("sum", wall, cpu, sum(ceilings.values()), ""))
    ]


def summary(
    root: Path,
    costs: Mapping[str, tuple[float, float]],
    ceilings: Mapping[str, int],
    other: Count,
) -> int:
    """Print all sums. The result is 1 if a test or another step failed, or if no test ran."""
    tests, lines = count(root), files(root)
    total = Count(*map(sum, zip(tests, other, strict=True)))
    print("The slowest tests:", *slowest(root), sep="\n")
    print("The slowest files:", *lines[:_FILES], sep="\n")
    (root / "target/test-reports").mkdir(parents=True, exist_ok=True)
    (root / "target/test-reports/files.txt").write_text("\n".join(lines) + "\n")
    print(*failures(root), *steps(costs, ceilings), total, sep="\n")
    return 1 if total.failed or not tests.passed else 0


def _seconds(case: Element) -> float:
    return float(case.get("time") or 0)


def _cases(root: Path) -> Iterator[Element]:
    return (case for suite in _suites(root) for case in suite.iter("testcase"))


def _suites(root: Path) -> list[Element]:
    found = sorted(file for pattern in REPORTS for file in root.glob(pattern))
    return [
        suite for file in found for suite in ElementTree.parse(file).getroot().iter("testsuite")
    ]
