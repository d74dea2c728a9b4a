# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Build hooks that add the version and the jars, which are outside of this folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
SHARED = {
    "VERSION": "VERSION",
    "LICENSE": "LICENSE",
    "NOTICE": "NOTICE",
    "spark.properties": "project/spark.properties",
}
"""Files of the repository that an sdist carries, each with its path in the repository."""

JARS = ("splice-spark_2.13-*.jar", "kafka-clients-*.jar")


def shared(name: str) -> Path:
    """Return a file of the repository: in this folder in an sdist, one folder up in a checkout."""
    here = HERE / name
    return here if here.exists() else REPOSITORY / SHARED[name]


def python_version(maven: str) -> str:
    """Convert a Maven version to a PyPI version: 0.1.0-SNAPSHOT is 0.1.0.dev0."""
    return maven.replace("-SNAPSHOT", ".dev0")


def spark_range() -> str:
    """Return the range of PySpark's versions, such as ``>=4.1.0,<4.4``.

    Raises:
        RuntimeError: if the file of Spark's versions does not set the range.
    """
    lines = shared("spark.properties").read_text().splitlines()
    for name, _, value in (line.partition("=") for line in lines):
        if name == "python":
            return value
    raise RuntimeError("spark.properties does not set 'python'")


def jars() -> list[Path]:
    """Return the jars of the wheel, exactly one of each.

    Raises:
        RuntimeError: if a jar is missing or exists several times.
    """
    named = os.environ.get("SPLICE_JARS")
    carried = HERE / "jars"
    built = REPOSITORY / "jvm" / "bundle" / "target" / "dist"
    folder = Path(named) if named else carried if carried.exists() else built
    found = [sorted(folder.glob(pattern)) for pattern in JARS]
    for pattern, matches in zip(JARS, found, strict=True):
        if len(matches) != 1:
            raise RuntimeError(
                f"the wheel needs exactly one {pattern} and found {len(matches)} in {folder}: "
                "run `make jar` first, or set SPLICE_JARS to the folder of the jars"
            )
    return [matches[0] for matches in found]


class VersionHook(MetadataHookInterface):
    """Hook that reads the versions, which the JVM build uses too."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the version of Splice and the range of PySpark."""
        metadata["version"] = python_version(shared("VERSION").read_text().strip())
        metadata["dependencies"] = [f"pyspark{spark_range()}", "rich>=13"]


class JarsHook(BuildHookInterface[Any]):
    """Hook that adds the jars to the wheel, and the jars and the shared files to the sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files. An editable installation uses the jars in SPLICE_JARS instead."""
        if version == "editable":
            return
        include = build_data["force_include"]
        if self.target_name == "wheel":
            include.update({str(jar): f"splice/jars/{jar.name}" for jar in jars()})
        else:
            include.update({str(jar): f"jars/{jar.name}" for jar in jars()})
            include.update({str(shared(name)): name for name in SHARED})
