# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Choice of a case per commit, so that successive commits run all cases."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def turn(cases: Sequence[T]) -> T:
    """Return the case that the number of commits selects."""
    return cases[_commits() % len(cases)]


@functools.cache
def _commits() -> int:
    command = ["git", "rev-list", "--count", "HEAD"]
    try:
        counted = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except FileNotFoundError:
        return 0
    # An archive of the sources has no commits.
    return int(counted.stdout or 0)
