# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(what: str, condition: Callable[[], T | None], timeout: float = 60) -> T:
    """Asks until the condition gives something true, and gives it.

    Raises:
        TimeoutError: naming what was waited for, if it stays false for the timeout in seconds.
    """
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout} s in vain for {what}")
        time.sleep(0.05)
