# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars that the build stages for the processes of tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Root folder of the repository."""


def staged(folder: Path, task: str) -> list[Path]:
    """Return the jars of a folder. If the folder has no jars, sbt stages them.

    Args:
        folder: Output folder of the task.
        task: Task of sbt, such as ``servers/stage``.

    Raises:
        RuntimeError: with the end of the output of sbt, if sbt fails.
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
