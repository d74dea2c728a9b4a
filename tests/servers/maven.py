# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Class paths that mvn resolves, each once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_CACHE = ROOT / ".cache"


def is_here() -> bool:
    """Whether mvn can be run."""
    return shutil.which("mvn") is not None


def class_path(pom: Path, versions: Sequence[str]) -> str:
    """Resolves the dependencies of a pom; the answer is kept in ``.cache``.

    Args:
        pom: It takes its versions from properties.
        versions: The names of those properties, which are names in project/Versions.scala too.
    """
    found = {name: _version(name) for name in versions}
    answer = _CACHE / f"{pom.name}-{'-'.join(found.values())}.classpath"
    if answer.is_file() and all(
        Path(jar).is_file() for jar in answer.read_text().split(os.pathsep)
    ):
        return answer.read_text()
    _CACHE.mkdir(exist_ok=True)
    fresh = answer.with_suffix(f".{os.getpid()}")
    if not is_here():
        raise RuntimeError(f"mvn, which resolves {pom.name}, was not found: install Maven")
    run(
        ["mvn", "-q", "-B", "-f", str(pom), "dependency:build-classpath"]
        + [f"-D{name}={version}" for name, version in found.items()]
        + [f"-Dmdep.outputFile={fresh}"]
    )
    fresh.replace(answer)
    return answer.read_text()


def run(command: Sequence[str]) -> str:
    """Runs a command of the build and gives its output.

    Raises:
        RuntimeError: with the end of its output, if it fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


def _version(name: str) -> str:
    text = (ROOT / "project" / "Versions.scala").read_text()
    found = re.search(rf'val {name}\s*=\s*"([^"]+)"', text)
    if not found:
        raise RuntimeError(f"project/Versions.scala names no version '{name}'")
    return found.group(1)
