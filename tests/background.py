# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Work on a separate thread during a test."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType

from typing_extensions import Self


class Background(ABC):
    """Work that a separate thread repeats within a ``with`` block."""

    def __init__(self, name: str, pause: float) -> None:
        """Create the thread, without a start.

        Args:
            name: Name of the thread.
            pause: Seconds before each repetition.
        """
        self._pause = pause
        self._stopped = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread, and raise its error unless the block raised another error."""
        self._stopped.set()
        self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    @abstractmethod
    def work(self) -> None:
        """Do one repetition, on the thread."""

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self._pause):
                self.work()
        except Exception as error:
            self._failure = error
