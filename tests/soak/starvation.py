# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Periods in which other programs use nearly all processor time."""

from __future__ import annotations

import time

from typing_extensions import Self

from background import Background
from soak.progress import Span

_PAUSE = 0.5
_WORK = 0.01
"""Processor time of each measurement, in seconds."""

_SLOW = 30
"""Factor by which the work or the pause takes longer on an overloaded machine.

Programs of the run share the processors too. Ten programs on one processor have a factor of ten.
"""


class Starvation(Background):
    """Measurement of the machine's load in a thread, within a ``with`` block.

    The thread has the priority of the run. Programs with a higher priority can stop a whole run,
    including brokers, for minutes.
    """

    def __init__(self) -> None:
        """Create a measurement without starting it."""
        super().__init__("starvation", _PAUSE)
        self._spans: list[Span] = []
        self._last = 0.0

    def __enter__(self) -> Self:
        """Start the thread."""
        self._last = time.time()
        return super().__enter__()

    @property
    def spans(self) -> list[Span]:
        """Return the periods from the end of a measurement to the end of a slow measurement."""
        return list(self._spans)

    def work(self) -> None:
        """Measure the time of some work, and of the pause before the work."""
        began = time.monotonic()
        done = time.thread_time() + _WORK
        while time.thread_time() < done:
            pass
        took, now = time.monotonic() - began, time.time()
        if is_slow(now - self._last - took, took):
            self._spans.append((self._last, now))
        self._last = now


def is_slow(pause: float, work: float) -> bool:
    """Return True if the duration of a measurement indicates an overloaded machine."""
    return work > _SLOW * _WORK or pause > _SLOW * _PAUSE
