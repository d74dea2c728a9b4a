# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars that the build stages for the processes of tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Of the repository."""


def staged(folder: Path, task: str) -> list[Path]:
    """Return the jars of a folder; sbt stages them if there are none.

    Args:
        folder: Where the task puts the jars.
        task: The task of sbt, such as ``servers/stage``.

    Raises:
        RuntimeError: with the end of the output of sbt, if it fails.
    """
    found = sorted(folder.glob("*.jar"))
    if not found:
        command = [str(ROOT / "project" / "sbt"), task]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode:
            output = (done.stdout + done.stderr)[-4000:]
            raise RuntimeError(f"{' '.join(command)} failed:\n{output}")
        found = sorted(folder.glob("*.jar"))
    return found
