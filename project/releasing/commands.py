# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands of other programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path


class ReleaseError(Exception):
    """A release cannot continue; the text has the reason."""


def run(
    *command: str, at: Path, env: Mapping[str, str] | None = None, log: Path | None = None
) -> None:
    """Run a command and show its output, or append it to a file.

    Raises:
        ReleaseError: if the command fails.
    """
    with log.open("ab") if log else nullcontext() as out:
        done = subprocess.run(
            command,
            cwd=at,
            env=os.environ | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT if out else None,
            check=False,
        )
    if done.returncode:
        text = f"{' '.join(command)} failed with exit code {done.returncode}"
        raise ReleaseError(text + (f": see {log}" if log else ""))


def output(*command: str, at: Path) -> str:
    """Return the output of a command, without the last line break.

    Raises:
        ReleaseError: if the command fails.
    """
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")
