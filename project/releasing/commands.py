# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands of other programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class ReleaseError(Exception):
    """A release cannot continue; the text has the reason."""


def run(*command: str, at: Path, env: Mapping[str, str] | None = None) -> None:
    """Run a command and show its output.

    Raises:
        ReleaseError: if it fails.
    """
    done = subprocess.run(command, cwd=at, env=os.environ | dict(env or {}), check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed with exit code {done.returncode}")


def output(*command: str, at: Path) -> str:
    """Return the output of a command, without the last line break.

    Raises:
        ReleaseError: if it fails.
    """
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")
