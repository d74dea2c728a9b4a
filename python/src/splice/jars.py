# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the jars that belong to this package, and says how else to give them to Spark."""

from __future__ import annotations

import os
import re
from pathlib import Path

from splice.errors import SetupError

CONNECTOR = "splice-spark_2.13"
"""The artifact of the connector: its jar's name without the version."""

ENVIRONMENT = "SPLICE_JARS"
"""Names the folder with the jars where the package was not installed from a wheel."""

_CARRIED = Path(__file__).resolve().parent / "jars"
_PATTERNS = (f"{CONNECTOR}-*.jar", "kafka-clients-*.jar")


def jar_paths() -> list[Path]:
    """Finds the connector's jar and the Kafka client's.

    They are looked for in the package's folder ``jars``, which a wheel carries, then in the
    folder that the environment variable SPLICE_JARS names.

    Raises:
        SetupError: if one is missing or there are several of one.
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
    """Return whether a session's ``spark.jars`` has jars, but not those of this package."""
    names = {artifact(file_name(jar)) for jar in present.split(",") if jar.strip()}
    return bool(names) and CONNECTOR not in names


def how_to_submit() -> str:
    """Says what to give spark-submit, with the very jars and version where they are known."""
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
    version = re.fullmatch(rf"{re.escape(CONNECTOR)}-(.+)\.jar", jar.name) if jar else None
    return f"io.github.splice:{CONNECTOR}:{version.group(1) if version else '<version>'}"
