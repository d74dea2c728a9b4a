# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Plant defects into the source, and require that a test suite finds each defect.

Usage: planted.py [NAME ...], for example `planted.py A3 A8`. Without names, the program plants all
defects. Each file `jvm/dynamic-kafka/src/test/planted/<name>.patch` has the effect of one defect
and its change in the format of git. The lines `Suite`, `Seeds` and `Found` set the suite, the seeds
of a simulation, and a regular expression of the expected failure. The program applies each patch to
the last commit in a temporary work tree, so the work tree of the repository does not change. The
exit code is 1 if a patch does not apply, or if a suite does not find a defect.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PATCHES = ROOT / "jvm" / "dynamic-kafka" / "src" / "test" / "planted"
_CHANGE = re.compile(r"^[+-](?!\+\+|--)", re.MULTILINE)
_SBT = "project/sbt"
_LINES = 15


class Planted(NamedTuple):
    """Defect of one patch.

    Attributes:
        effect: Effect of the defect on a query.
        suite: Class of the suite that finds the defect.
        seeds: Range of seeds for a simulation; empty for another suite.
        found: Regular expression that a line of the output must match.
        files: Changed files.
        changes: Number of added and removed lines.
    """

    path: Path
    effect: str
    suite: str
    seeds: str
    found: str
    files: list[str]
    changes: int

    @property
    def name(self) -> str:
        """Name of the finding."""
        return self.path.stem


def read(path: Path) -> Planted:
    """Parse a patch file."""
    head, separator, change = path.read_text().partition("\ndiff --git ")
    effect, _, fields = head.strip().partition("\n\n")
    values = dict(line.split(": ", 1) for line in fields.splitlines() if ": " in line)
    if not separator or not {"Suite", "Found"} <= values.keys():
        raise ValueError(f"{path.name} needs an effect, 'Suite: ', 'Found: ' and a change.")
    return Planted(
        path,
        effect,
        values["Suite"],
        values.get("Seeds", ""),
        values["Found"],
        re.findall(r"^\+\+\+ b/(.+)$", change, re.MULTILINE),
        len(_CHANGE.findall(change)),
    )


def all_planted() -> list[Planted]:
    """Return all defects, in the order of their numbers."""
    paths = sorted(PATCHES.glob("*.patch"), key=lambda p: (int(re.sub(r"\D", "", p.stem)), p.stem))
    return [read(path) for path in paths]


def rejection(planted: Planted, tree: Path = ROOT) -> str:
    """Return the reason why a patch does not apply to a tree; empty if the patch applies."""
    return _git(tree, "apply", "--check", str(planted.path), check=False).stderr.strip()


def _git(tree: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=tree, capture_output=True, text=True, check=check
    )


def _environment(seeds: str) -> dict[str, str]:
    # With `CI`, a warning such as an unused parameter would end the build.
    kept = {key: value for key, value in os.environ.items() if key not in ("CI", "SEED")}
    launcher = next((ROOT / ".launcher").glob("sbt-launch-*.jar"), None)
    if launcher:
        kept.setdefault("SBT_LAUNCHER", str(launcher))
    return kept | ({"SEED": seeds} if seeds else {})


def _test(tree: Path, suite: str, seeds: str) -> tuple[bool, str]:
    """Run a suite. Return true if the suite passes, and the output."""
    done = subprocess.run(
        [_SBT, f"dynamicKafka/testOnly {suite}"],
        cwd=tree,
        env=_environment(seeds),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout


def fault(planted: Planted, tree: Path) -> str:
    """Plant a defect in a tree. Return the reason why no suite finds the defect; empty if found."""
    _git(tree, "apply", str(planted.path))
    try:
        passes, output = _test(tree, planted.suite, planted.seeds)
    finally:
        _git(tree, "checkout", "--", *planted.files)
    if passes:
        return f"{planted.suite} passes"
    if re.search(planted.found, output):
        return ""
    end = "\n".join(output.splitlines()[-_LINES:])
    return f"the suite fails for another reason than '{planted.found}':\n{end}"


def main(names: list[str]) -> int:
    """Plant the defects with these names, or all defects."""
    chosen = [one for one in all_planted() if not names or one.name in names]
    unknown = set(names) - {one.name for one in chosen}
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    missed = 0
    with tempfile.TemporaryDirectory(prefix="splice-planted-") as folder:
        tree = Path(folder) / "tree"
        _git(ROOT, "worktree", "add", "--detach", str(tree), "HEAD")
        try:
            for one in chosen:
                began = time.monotonic()
                reason = rejection(one, tree) or fault(one, tree)
                missed += bool(reason)
                took = f"{time.monotonic() - began:.0f} s"
                state = f"NOT FOUND, {reason}" if reason else f"found by {one.suite}"
                print(f"{one.name}: {state} ({took}). {one.effect}", flush=True)
        finally:
            _git(ROOT, "worktree", "remove", "--force", str(tree))
    print(f"{len(chosen) - missed} of {len(chosen)} defects are found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
