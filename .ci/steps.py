# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Run the steps of CI, measure each step, and print the sums of all test reports.

Each step runs targets of make. One sbt server compiles everything once, with the flags of CI, and
ends before the tests that take most memory. The cost of a step is its CPU time: the user and system
seconds of all its processes, also of the server and of processes whose parents have ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import tally

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "project"))

import checks  # noqa: E402

_SBT = "project/sbt --client"
_TICKS = os.sysconf("SC_CLK_TCK")
_SET_CHILD_SUBREAPER = 36

STEPS = (
    ("lint", "-k", "lint"),
    ("unit", "unit"),
    ("build", "-k", "linkage", "target/made/stores", "target/made/tables", "target/made/scaladoc"),
    ("it", "it"),
    ("docs", "docs"),
    ("demo", "demo", "ROWS=100000"),
)
"""Name and arguments of make for each step, in order."""

_TESTS = ("unit", "it")
"""Steps whose tests are counted instead of the step."""

_LAST_WITH_SBT = "build"


class Cost(NamedTuple):
    """Wall time and CPU time of a step, in seconds."""

    wall: float
    cpu: float

    @staticmethod
    def now() -> Cost:
        """Return the time, and the CPU time of this process and of all its descendants."""
        return Cost(time.monotonic(), _ticks(os.getpid()) / _TICKS)

    def since(self, before: Cost) -> Cost:
        """Return the difference to an earlier time."""
        return Cost(self.wall - before.wall, self.cpu - before.cpu)


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose parents end, so that none is lost."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _ticks(root: int) -> int:
    # The fields of a process are its own time, and the time of its ended children.
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            process = int(stat.parent.name)
            ticks[process] = sum(map(int, fields[11:15]))
            children.setdefault(int(fields[1]), []).append(process)
    found, total = [root], 0
    while found:
        process = found.pop()
        total += ticks.get(process, 0)
        found += children.get(process, [])
    return total


def _bury() -> None:
    # Only after the end of a step, because a wait for any process takes the exit code of make.
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _end_server() -> None:
    # A server with a developer's flags would compile everything again.
    if (ROOT / "project/target/active.json").exists():
        subprocess.run([*_SBT.split(), "shutdown"], stdout=subprocess.DEVNULL, check=False)
        _bury()


def main() -> int:
    """Run all steps. The result is 1 if a step or a test failed."""
    os.chdir(ROOT)
    adopt_orphans()
    for reports in (report.parent for pattern in tally.REPORTS for report in ROOT.glob(pattern)):
        shutil.rmtree(reports, ignore_errors=True)
    costs: dict[str, Cost] = {}
    other, failed_steps = tally.Count(0, 0, 0), []
    _end_server()
    try:
        for name, *arguments in STEPS:
            print(f"=== {name}: make {' '.join(arguments)}")
            before, failed_before = Cost.now(), tally.count(ROOT).failed
            ended = subprocess.run(["make", f"SBT={_SBT}", *arguments], check=False).returncode
            if name == _LAST_WITH_SBT:
                _end_server()
            _bury()
            costs[name] = Cost.now().since(before)
            state = f"FAILED ({ended})" if ended else "passed"
            print(f"=== {name} {state}: {costs[name].wall:.0f} s, {costs[name].cpu:.0f} s of CPU")
            if ended:
                failed_steps.append(name)
                counted = tally.count(ROOT).failed > failed_before
                other = other._replace(failed=other.failed + (not counted))
            elif name not in _TESTS:
                other = other._replace(passed=other.passed + 1)
    finally:
        _end_server()
    if failed_steps:
        print(f"=== failed: {' '.join(failed_steps)}")
    return tally.summary(ROOT, costs, checks.CPU_SECONDS, other)


if __name__ == "__main__":
    sys.exit(main())
