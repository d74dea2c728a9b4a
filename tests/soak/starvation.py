# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Periods in which other programs use nearly all processor time."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from soak.progress import Span

_PAUSE = 0.5
_WORK = 0.01
"""Processor time of each measurement, in seconds."""

_SLOW = 30
"""Factor by which the work or the pause takes longer on an overloaded machine.

Programs of the run share the processors too. Ten programs on one processor have a factor of ten.
"""


class Starvation:
    """Measurement of the machine's load in a thread, within a ``with`` block.

    The thread has the priority of the run. Programs with a higher priority can stop a whole run,
    including brokers, for minutes.
    """

    def __init__(self) -> None:
        """Create a measurement without starting it."""
        self._spans: list[Span] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def __enter__(self) -> Starvation:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread."""
        self._ends.set()
        self._thread.join()

    @property
    def spans(self) -> list[Span]:
        """Return the periods from the end of a measurement to the end of a slow measurement."""
        return list(self._spans)

    def _measure(self) -> None:
        last = time.time()
        while not self._ends.wait(_PAUSE):
            began = time.monotonic()
            done = time.thread_time() + _WORK
            while time.thread_time() < done:
                pass
            took, now = time.monotonic() - began, time.time()
            if is_slow(now - last - took, took):
                self._spans.append((last, now))
            last = now


def is_slow(pause: float, work: float) -> bool:
    """Return True if the duration of a measurement indicates an overloaded machine."""
    return work > _SLOW * _WORK or pause > _SLOW * _PAUSE
