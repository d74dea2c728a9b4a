# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builds a release into local folders, and tries its artifacts. Nothing is uploaded.

RELEASING.md describes the steps and the folders.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from releasing import bill
from releasing.build import build, dependencies, distributions, published, repository
from releasing.changelog import notes
from releasing.commands import ReleaseError, output, run
from releasing.index import write_index
from releasing.metadata import missing
from releasing.signing import sign_release
from releasing.tree import Tree, tagged

ROOT = Path(__file__).resolve().parents[2]
_GROUP, _BUNDLE, _PROJECT = "io.github.splice", "splice-spark_2.13", "splice-spark"


def main() -> None:
    """Run the steps of a release."""
    parser = argparse.ArgumentParser(description="Build and try a release in local places.")
    parser.add_argument("--version", required=True, help="the version, such as 0.1.0")
    parser.add_argument("--key", help="the GnuPG key; without it a new key signs this dry run")
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "release")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    _step("clone and tag")
    first = tagged(ROOT, folder / "first", given.version, given.key)
    second = first.again(folder / "second")
    _step(f"build {first.tag} in {first.folder} and in {second.folder}, with a log next to each")
    launcher = next(iter(sorted((ROOT / ".launcher").glob("*.jar"))), None)
    with ThreadPoolExecutor(2) as both:
        builds = [both.submit(build, tree, launcher) for tree in (first, second)]
    for done in builds:
        done.result()
    _step("compare the bytes of both builds")
    _compare(first, second)
    _step("check the metadata")
    (wheel,) = (file for file in distributions(first) if file.suffix == ".whl")
    gaps = list(missing(repository(first), wheel, given.version))
    if gaps:
        raise ReleaseError("\n".join(gaps))
    _step("write the artifacts, the bills of materials and the release notes")
    _assemble(first, wheel, folder, given.version)
    _step("sign")
    print(f"{sign_release(folder, given.key)} files have a verified signature")
    _step("install from the local places and run the query of the README")
    _try(first, folder, given.version)
    _report(first, folder)


def _compare(first: Tree, second: Tree) -> None:
    files, again = dict(published(first)), dict(published(second))
    if files.keys() != again.keys():
        raise ReleaseError(f"only one build has {sorted(files.keys() ^ again.keys())}")
    different = [
        name for name, file in files.items() if file.read_bytes() != again[name].read_bytes()
    ]
    if different:
        raise ReleaseError("the builds differ:\n" + "\n".join(different))
    if dependencies(first) != dependencies(second):
        raise ReleaseError("the builds resolved different dependencies")
    print("\n".join(f"same bytes: {name}" for name in files))


def _assemble(tree: Tree, wheel: Path, folder: Path, version: str) -> None:
    shutil.copytree(repository(tree), folder / "maven")
    place = folder / "maven" / _GROUP.replace(".", "/") / _BUNDLE / version
    jar = place / f"{_BUNDLE}-{version}.jar"
    parts = [each.component() for each in bill.dependencies(dependencies(tree))]
    subject = bill.jar(_GROUP, _BUNDLE, version, jar)
    text = bill.bill(subject, parts, tree.epoch)
    (place / f"{jar.stem}-cyclonedx.json").write_text(text)
    # The wheel contains the bundle and the client of Kafka.
    client = [part for part in parts if part.name == "kafka-clients"]
    inside = [bill.jar(_GROUP, _BUNDLE, version, jar), *client]
    text = bill.bill(bill.wheel(_PROJECT, version, wheel), inside, tree.epoch)
    (folder / f"{wheel.stem}-cyclonedx.json").write_text(text)
    write_index(folder / "simple", _PROJECT, distributions(tree))
    changelog = (tree.folder / "CHANGELOG.md").read_text("utf-8")
    (folder / "NOTES.md").write_text(notes(changelog, version), "utf-8")


def _try(tree: Tree, folder: Path, version: str) -> None:
    env = {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT / "python" / "src")]),
        "SPLICE_KAFKA_SERVER": str(tree.folder / "tests" / "servers" / "target" / "kafka"),
    }
    places = ("--maven", str(folder / "maven"), "--index", str(folder / "simple"))
    trial = (str(ROOT / "tests" / "release" / "trial.py"), "--version", version, *places)
    run(sys.executable, *trial, "--folder", str(folder / "trial"), at=ROOT, env=env)


def _report(tree: Tree, folder: Path) -> None:
    commit = output("git", "rev-parse", "--short", "HEAD", at=tree.folder)
    print(f"\n{tree.tag} ({commit}) is complete in {folder}:")
    for name in ("maven", "simple", "NOTES.md"):
        print(f"  {folder / name}")
    print(f"Fetch the tag with: git fetch {tree.folder} tag {tree.tag}")


def _step(text: str) -> None:
    print(f"=== {text}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except ReleaseError as error:
        sys.exit(f"release: {error}")
