# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Plant defects into the source, and require that tests find each defect.

Usage: planted.py [--any] [NAME ...], for example `planted.py A3 D8`. Without names, the program
plants all defects. Each file `project/planted/<name>.patch` has the effect of one defect, the tests
that find it, and its change in the format of git. `project/planted/README.md` describes the files.

The program applies each patch to the last commit in a temporary work tree, so the work tree of the
repository does not change. The tree begins with the compiled classes of the repository, so sbt
compiles only what a patch changes. With `--any`, the first test that finds a defect is enough. The
exit code is 1 if a patch does not apply, or if a test does not find its defect. `planted.py
--table` prints the table of the README.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PATCHES = ROOT / "project" / "planted"
_CHANGE = re.compile(r"^[+-](?!\+\+|--)", re.MULTILINE)
_LINES = 15

# Compiled classes, staged servers and archives of classes of a built repository.
_BUILT = ("project/target", "project/project/target", "jvm/*/target", "tests/*/target")
_ARCHIVES = "target/class-data"


class Finder(NamedTuple):
    """Test that finds a defect.

    Attributes:
        kind: `Suite` for a class of a Scala suite, or `Test` for a test of pytest.
        name: Name of the class, or node id of the test.
        seeds: Range of seeds for a simulation; empty for another suite.
        only: Part of the names of the tests of another suite that run; empty for all tests.
        found: Regular expression that a line of the output must match.
    """

    kind: str
    name: str
    seeds: str = ""
    only: str = ""
    found: str = ""

    @property
    def path(self) -> Path:
        """File of the test.

        Raises:
            FileNotFoundError: if the file of a suite does not exist.
        """
        if self.kind == "Test":
            return ROOT / self.name.split("::")[0]
        pattern = f"jvm/*/src/test/scala/{self.name.replace('.', '/')}.scala"
        for path in ROOT.glob(pattern):
            return path
        raise FileNotFoundError(pattern)

    @property
    def task(self) -> str:
        """Task of sbt that runs a suite."""
        folder = self.path.relative_to(ROOT / "jvm").parts[0]
        project = re.sub(r"-(\w)", lambda letter: letter[1].upper(), folder)
        seeds = f" -- -Dsplice.seed={self.seeds}" if self.seeds else ""
        only = f' -- -z "{self.only}"' if self.only else ""
        return f"{project}/testOnly {self.name}{seeds}{only}"

    @property
    def text(self) -> str:
        """Name for the table."""
        seeds = f", seeds {self.seeds}" if self.seeds else ""
        return f"`{self.name if self.kind == 'Test' else self.path.stem}`{seeds}"


class Planted(NamedTuple):
    """Defect of one patch.

    Attributes:
        effect: Effect of the defect on a query.
        finders: Tests that find the defect.
        files: Changed files.
        changes: Number of added and removed lines.
    """

    path: Path
    effect: str
    finders: list[Finder]
    files: list[str]
    changes: int

    @property
    def name(self) -> str:
        """Name of the defect."""
        return self.path.stem

    @property
    def modules(self) -> str:
        """Folders of the changed modules."""
        return ", ".join(dict.fromkeys(file.split("/")[1] for file in self.files))


def read(path: Path) -> Planted:
    """Parse a patch file."""
    head, separator, change = path.read_text().partition("\ndiff --git ")
    effect, _, fields = head.strip().partition("\n\n")
    finders: list[Finder] = []
    for key, value in (line.split(": ", 1) for line in fields.splitlines()):
        if key in ("Suite", "Test"):
            finders.append(Finder(key, value))
        elif finders and key in ("Seeds", "Only", "Found"):
            finders[-1] = finders[-1]._replace(**{key.lower(): value})
        else:
            raise ValueError(f"{path.name}: '{key}' is not expected.")
    if not separator or not finders or not all(finder.found for finder in finders):
        raise ValueError(
            f"{path.name} needs an effect, 'Suite: ' or 'Test: ' with 'Found: ', and a change."
        )
    files = re.findall(r"^\+\+\+ b/(.+)$", change, re.MULTILINE)
    return Planted(path, effect, finders, files, len(_CHANGE.findall(change)))


def all_planted() -> list[Planted]:
    """Return all defects, in the order of their names."""
    paths = PATCHES.glob("*.patch")
    return [read(path) for path in sorted(paths, key=lambda path: _order(path.stem))]


def _order(name: str) -> tuple[str, int, str]:
    return name[0], int(re.sub(r"\D", "", name)), name


def table() -> str:
    """Return the table of all defects in the format of Markdown."""
    head = "| Defect | Effect | Module | Found by |\n| --- | --- | --- | --- |\n"
    return head + "".join(
        f"| {one.name} | {one.effect} | {one.modules} "
        f"| {'; '.join(finder.text for finder in one.finders)} |\n"
        for one in all_planted()
    )


def rejection(planted: Planted, tree: Path = ROOT) -> str:
    """Return the reason why a patch does not apply to a tree; empty if the patch applies."""
    return _git(tree, "apply", "--check", str(planted.path), check=False).stderr.strip()


def _git(tree: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=tree, capture_output=True, text=True, check=check
    )


class Tree:
    """Temporary work tree, and the sbt server that builds and tests the tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    @contextlib.contextmanager
    def of_last_commit() -> Iterator[Tree]:
        """Create a tree of the last commit, and remove the tree at the end."""
        with tempfile.TemporaryDirectory(prefix="splice-planted-") as parent:
            tree = Tree(Path(parent) / "tree")
            _git(ROOT, "worktree", "add", "--detach", str(tree.folder), "HEAD")
            try:
                tree.warm()
                yield tree
            finally:
                tree.sbt("shutdown")
                _git(ROOT, "worktree", "remove", "--force", str(tree.folder))

    def warm(self) -> None:
        """Copy the built files of the repository, if any.

        A build with `CI` has other flags of the compiler, so sbt compiles its classes again, once.
        """
        for pattern in (*_BUILT, _ARCHIVES):
            for built in ROOT.glob(pattern):
                # The file `active.json` has the address of the server of the repository.
                ignored = shutil.ignore_patterns("active.json", "test-reports")
                target = self.folder / built.relative_to(ROOT)
                shutil.copytree(built, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)

    def sbt(self, commands: str) -> tuple[bool, str]:
        """Run commands on the server of the tree. Return true if they pass, and the output."""
        # With `CI`, a warning such as an unused parameter would end the build.
        kept = {key: value for key, value in os.environ.items() if key not in ("CI", "SEED")}
        launcher = next((ROOT / ".launcher").glob("sbt-launch-*.jar"), None)
        if launcher:
            kept.setdefault("SBT_LAUNCHER", str(launcher))
        return self._run(["project/sbt", "--client", commands], kept)

    def test(self, finder: Finder) -> tuple[bool, str]:
        """Run a test with the classes of the tree. Return true if it passes, and the output."""
        if finder.kind == "Suite":
            return self.sbt(finder.task)
        stores = "; stores/stage" if finder.name.startswith("tests/stores/") else ""
        built, output = self.sbt(f"bundle/dist; testkit/killingJar; servers/stage{stores}")
        if not built:
            return False, output
        # The package of the tree has no jars, so the tests use the jars of the variable.
        paths = {
            "PYTHONPATH": self.folder / "python" / "src",
            "SPLICE_JARS": self.folder / "jvm" / "bundle" / "target" / "dist",
            "SPLICE_KAFKA_SERVER": self.folder / "tests" / "servers" / "target" / "kafka",
            "SPLICE_REPOSITORY": self.folder / "target" / "repository",
        }
        version = (ROOT / "VERSION").read_text().strip()
        environment = {key: str(path) for key, path in paths.items()} | {"SPLICE_VERSION": version}
        command = [sys.executable, "-m", "pytest", finder.name, "-n", "0"]
        return self._run(command, {**os.environ, **environment})

    def _run(self, command: list[str], environment: Mapping[str, str]) -> tuple[bool, str]:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode == 0, done.stdout


def faults(planted: Planted, tree: Tree, is_one_enough: bool = False) -> list[str]:
    """Plant a defect in a tree. Return the reasons why tests do not find it; empty if found."""
    reason = rejection(planted, tree.folder)
    if reason:
        return [reason]
    reasons = []
    _git(tree.folder, "apply", str(planted.path))
    try:
        for finder in planted.finders:
            reason = _fault(finder, *tree.test(finder))
            if is_one_enough and not reason:
                return []
            reasons += [reason] if reason else []
    finally:
        _git(tree.folder, "checkout", "--", *planted.files)
    return reasons


def _fault(finder: Finder, passes: bool, output: str) -> str:
    if passes:
        return f"{finder.name} passes"
    if re.search(finder.found, output):
        return ""
    end = "\n".join(output.splitlines()[-_LINES:])
    return f"{finder.name} fails for another reason than '{finder.found}':\n{end}"


def main(arguments: list[str]) -> int:
    """Plant the defects with the given names, or all defects."""
    if arguments == ["--table"]:
        print(table(), end="")
        return 0
    names = [name for name in arguments if name != "--any"]
    chosen = [one for one in all_planted() if not names or one.name in names]
    unknown = set(names) - {one.name for one in chosen}
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    missed = 0
    with Tree.of_last_commit() as tree:
        # The next patch of a module and the removal of its last patch are one compilation.
        for one in sorted(chosen, key=lambda one: one.modules):
            began = time.monotonic()
            reasons = faults(one, tree, "--any" in arguments)
            missed += bool(reasons)
            took = f"{time.monotonic() - began:.0f} s"
            state = f"NOT FOUND, {'; '.join(reasons)}" if reasons else "found"
            print(f"{one.name}: {state} ({took}). {one.effect}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} defects are found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
