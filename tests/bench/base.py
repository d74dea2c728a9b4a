# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of the two builds that ``make bench BASE=...`` compares."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "target" / "bench-base"
"""Folder with one subfolder per commit, which contains the jars of its build."""

SOURCES = Path("jvm", "bench", "src", "main")
READERS = (
    Path("java", "splice", "bench", "builds", "ReaderBenchmark.java"),
    Path("scala", "splice", "bench", "builds", "InMemoryTopic.scala"),
)
"""Benchmark of readers over records in memory."""

PLUGINS = ROOT / "project" / "plugins.sbt"
BENCH = 'lazy val bench = module("bench")'
"""First line of the benchmark's project in the build."""


def own_jar() -> Path:
    """Return the jar of this tree."""
    return jar_in(ROOT / "jvm" / "bundle" / "target" / "dist")


def jar_of(base: str) -> Path:
    """Return the jar at a path, or the jar of a commit, which is built once."""
    file = Path(base)
    if file.is_file():
        return file.resolve()
    commit = commit_of(base)
    kept = KEPT / commit
    if not kept.exists():
        build(commit, kept)
    return jar_in(kept)


def commit_of(base: str) -> str:
    """Return the id of a commit."""
    found = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        sys.exit(f"BASE is '{base}', which is neither a jar nor a commit of this repository")
    return found.stdout.strip()


def build(commit: str, into: Path) -> None:
    """Build the jars of a commit from its files, in a folder without a repository."""
    tree = KEPT / f"{commit}.tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    files = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x"], cwd=tree, input=files.stdout, check=True)
    launchers = sorted((ROOT / ".launcher").glob("sbt-launch-*.jar"))
    known = {"SBT_LAUNCHER": str(launchers[-1])} if launchers else {}
    sbt, env = str(tree / "project" / "sbt"), {**known, **os.environ}
    subprocess.run([sbt, "bundle/dist"], cwd=tree, check=True, env=env)
    jars = tree / "jvm" / "bundle" / "target" / "dist"
    add_jmh(tree)
    # Constructors of readers differ between builds, so each build needs separate classes. A commit
    # with other names of readers compiles its benchmark instead, if the commit has one.
    places = [tree / SOURCES / file for file in READERS]
    texts = {place: place.read_bytes() for place in places if place.exists()}
    for file, place in zip(READERS, places, strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / SOURCES / file, place)
    compiles = [sbt, "bench/Jmh/compile"]
    compiled = subprocess.run(compiles, cwd=tree, check=False, env=env)
    if compiled.returncode and len(texts) == len(READERS):
        for path, text in texts.items():
            path.write_bytes(text)
        compiled = subprocess.run(compiles, cwd=tree, check=False, env=env)
    if compiled.returncode == 0:
        shutil.copytree(
            tree / "jvm" / "bench" / "target" / "scala-2.13" / "classes", jars / "benchmark"
        )
    jars.rename(into)
    shutil.rmtree(tree)


def add_jmh(tree: Path) -> None:
    """Enable sbt's plugin of JMH in the build of a commit that does not have it."""
    plugins, build = tree / "project" / "plugins.sbt", tree / "build.sbt"
    if "sbt-jmh" not in plugins.read_text():
        wanted = [line for line in PLUGINS.read_text().splitlines() if "sbt-jmh" in line]
        plugins.write_text("\n".join([plugins.read_text(), *wanted, ""]))
        enabled = build.read_text().replace(BENCH, f"{BENCH}.enablePlugins(JmhPlugin)")
        build.write_text(enabled)


def jar_in(folder: Path) -> Path:
    """Return the jar of Splice in a folder."""
    found = sorted(folder.glob("splice-spark_*.jar"))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} jars of Splice instead of one")
    return found[0]
