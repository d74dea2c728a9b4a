# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Gets the jars of a Kafka server, once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_POM = Path(__file__).with_name("kafka-server.pom.xml")
_STAGED_BY_SBT = Path(__file__).with_name("target") / "kafka"
_CACHE = _ROOT / ".cache"

ENVIRONMENT = "SPLICE_KAFKA_SERVER"
"""Names a folder with the jars, to use those."""


def class_path() -> str:
    """Gives the class path of a Kafka server of the version that the build names.

    It is taken from the folder that SPLICE_KAFKA_SERVER names, else from where the build has
    staged it, else resolved with mvn (the answer is kept in ``.cache``), else staged with sbt.

    Raises:
        RuntimeError: if neither mvn nor sbt is there, or they fail.
    """
    named = os.environ.get(ENVIRONMENT)
    for folder in [Path(named)] if named else [_STAGED_BY_SBT]:
        if any(folder.glob("kafka_2.13-*.jar")):
            return str(folder / "*")
    if named:
        raise RuntimeError(f"{ENVIRONMENT} is '{named}', where no Kafka server is")
    if shutil.which("mvn"):
        return _resolved_by_maven()
    _run([str(_ROOT / "project" / "sbt"), "servers/stage"])
    return str(_STAGED_BY_SBT / "*")


def _resolved_by_maven() -> str:
    versions = {name: _version(name) for name in ("kafkaServer", "kafkaServerLog4j")}
    answer = _CACHE / f"kafka-server-{'-'.join(versions.values())}.classpath"
    if answer.is_file() and all(
        Path(jar).is_file() for jar in answer.read_text().split(os.pathsep)
    ):
        return answer.read_text()
    _CACHE.mkdir(exist_ok=True)
    fresh = answer.with_suffix(f".{os.getpid()}")
    _run(
        ["mvn", "-q", "-B", "-f", str(_POM), "dependency:build-classpath"]
        + [f"-D{name}={version}" for name, version in versions.items()]
        + [f"-Dmdep.outputFile={fresh}"]
    )
    fresh.replace(answer)
    return answer.read_text()


def _version(name: str) -> str:
    text = (_ROOT / "project" / "Versions.scala").read_text()
    found = re.search(rf'val {name}\s*=\s*"([^"]+)"', text)
    if not found:
        raise RuntimeError(f"project/Versions.scala names no version '{name}'")
    return found.group(1)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
