# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of this package, and the arguments of spark-submit that add these jars."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from splice.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable

SETTING = "spark.jars"
"""Setting of a session with its jars."""

CONNECTOR = "splice-spark_2.13"
"""Artifact of the connector: the name of its jar without the version."""

ENVIRONMENT = "SPLICE_JARS"
"""Environment variable with the folder of the jars, for a package without a wheel."""

_CARRIED = Path(__file__).resolve().parents[1] / "jars"
_PATTERNS = (f"{CONNECTOR}-*.jar", "kafka-clients-*.jar")


def jar_paths() -> list[Path]:
    """Return the jars of the connector and of the Kafka client.

    The jars are in the folder ``jars`` of a package that was installed from a wheel. Otherwise,
    the jars are in the folder of the environment variable SPLICE_JARS.

    Raises:
        SetupError: if a jar is missing or exists several times.
    """
    folder = _folder()
    found = [sorted(folder.glob(pattern)) for pattern in _PATTERNS]
    for pattern, jars in zip(_PATTERNS, found, strict=True):
        if len(jars) != 1:
            raise SetupError.of(
                "SPLICE_SETUP.JAR_NOT_FOUND",
                pattern=pattern,
                count=len(jars),
                folder=folder,
                variable=ENVIRONMENT,
            )
    return [jars[0] for jars in found]


def file_name(jar: str) -> str:
    """Return the file name in a path or URI of a jar."""
    return jar.strip().rsplit("/", 1)[-1]


def artifact(name: str) -> str:
    """Return the name of a jar without its version, such as ``kafka-clients``."""
    return re.sub(r"-\d[^/]*\.jar$", "", name)


def replaced_jars(present: str) -> bool:
    """Return True if a session's ``spark.jars`` has jars, but not the jars of this package."""
    names = {artifact(file_name(jar)) for jar in present.split(",") if jar.strip()}
    return bool(names) and CONNECTOR not in names


def sets_jars(arguments: Iterable[str]) -> bool:
    """Return True if arguments of spark-submit set jars, which replace the jars of a builder."""
    words: list[str] = []
    for argument in arguments:
        # spark-submit also accepts an option and its value as one argument.
        name, equals, value = argument.partition("=")
        words += [name, value] if equals and name in ("--jars", "--conf") else [argument]
    return any(
        flag == "--jars" or (flag in ("--conf", "-c") and value.startswith(f"{SETTING}="))
        for flag, value in itertools.pairwise(words)
    )


def how_to_submit() -> str:
    """Return the arguments of spark-submit, with paths and version if the jars are available."""
    try:
        paths = jar_paths()
    except SetupError:
        return f"--jars <{CONNECTOR} jar>,<kafka-clients jar> or --packages {_coordinates(None)}"
    return f"--jars {','.join(map(str, paths))} or --packages {_coordinates(paths[0])}"


def _folder() -> Path:
    if any(_CARRIED.glob("*.jar")):
        return _CARRIED
    named = os.environ.get(ENVIRONMENT)
    if not named:
        raise SetupError.of("SPLICE_SETUP.JAR_FOLDER_NOT_SET", variable=ENVIRONMENT)
    return Path(named).resolve()


def _coordinates(jar: Path | None) -> str:
    found = re.fullmatch(rf"{re.escape(CONNECTOR)}-(.+)\.jar", jar.name) if jar else None
    version = found.group(1) if found else "<version>"
    coordinates = f"io.github.splice:{CONNECTOR}:{version}"
    # No public repository has a snapshot.
    local = " --repositories <repository of 'make jar'>" if version.endswith("-SNAPSHOT") else ""
    return f"{coordinates}{local}"
