# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Wait for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 180
"""Seconds for a server or a batch. Starts of five brokers at once take one minute on a machine with
two cores that other programs use too. A wait ends when its condition is true."""


def wait_for(what: str, condition: Callable[[], T | None], timeout: float = PATIENCE) -> T:
    """Poll a condition until its value is true, and return the value.

    Raises:
        TimeoutError: if the value is still false after the timeout in seconds.
    """
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout} s without result for {what}")
        time.sleep(0.05)
