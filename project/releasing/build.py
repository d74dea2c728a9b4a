# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The build of a tree: a Maven repository, a wheel and an sdist."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from releasing.commands import run
from releasing.tree import Tree

_TASKS = (
    "source/publish",
    "coordinator/publish",
    "testkit/publish",
    "bundle/publish",
    "bundle/dist",
    "bundle/dependencyTable",
    # The trial of the first build needs a broker.
    "servers/stage",
)
_CHECKSUMS = {".md5", ".sha1"}


def build(tree: Tree, launcher: Path | None) -> None:
    """Build the artifacts of a release.

    Args:
        tree: The tree to build.
        launcher: A launcher of sbt; without it the script of the tree finds one.
    """
    env = {"CI": "true", "SOURCE_DATE_EPOCH": tree.epoch, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    if launcher:
        env["SBT_LAUNCHER"] = str(launcher)
    log = tree.folder.with_suffix(".log")
    run("project/sbt", "; ".join(_TASKS), at=tree.folder, env=env, log=log)
    # The wheel is built from the sdist, which proves that the sdist is complete.
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", ".")
    run(*command, at=tree.folder / "python", env=env, log=log)


def repository(tree: Tree) -> Path:
    """Return the Maven repository of a tree."""
    return tree.folder / "target" / "repository"


def distributions(tree: Tree) -> list[Path]:
    """Return the wheel and the sdist of a tree."""
    return sorted((tree.folder / "python" / "dist").iterdir())


def dependencies(tree: Tree) -> str:
    """Return the table of the dependencies of the bundle."""
    return (tree.folder / "jvm" / "bundle" / "target" / "dependencies.tsv").read_text()


def published(tree: Tree) -> Iterator[tuple[str, Path]]:
    """Return each published file with its name in the release."""
    root = repository(tree)
    for file in sorted(root.rglob("*")):
        if file.is_file() and file.suffix not in _CHECKSUMS:
            yield f"maven/{file.relative_to(root).as_posix()}", file
    for file in distributions(tree):
        yield f"python/{file.name}", file
