# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Times in which other programs leave a run next to no processor time."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from soak.progress import Span

_PAUSE = 0.5
_WORK = 0.01
"""Seconds of processor time that each measurement needs."""

_SLOW = 30
"""How many times longer than alone the work or the pause takes on a starved machine.

Programs of the run itself share the processors too: ten on one processor slow each other down ten
times.
"""


class Starvation:
    """Measures the machine in a thread as long as it is entered.

    The priority of the thread is that of the run. Programs with a higher one can stop a whole run
    for minutes, brokers included.
    """

    def __init__(self) -> None:
        """Measures nothing yet."""
        self._spans: list[Span] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def __enter__(self) -> Starvation:
        """Starts the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the thread."""
        self._ends.set()
        self._thread.join()

    @property
    def spans(self) -> list[Span]:
        """The times, from the end of one measurement to the end of a slow one."""
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
    """Return whether a measurement took so long that the machine was starved."""
    return work > _SLOW * _WORK or pause > _SLOW * _PAUSE
