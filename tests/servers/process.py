# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Server process that ends with the run."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_running: set[ServerProcess] = set()


class ServerProcess:
    """Process in a separate session, with its output in a file.

    The process ends with the run: at exit, on SIGTERM, and on Linux also if the run is killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the command, and append its output to the log."""
        _exit_on_terminate()
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=None if environment is None else {**os.environ, **environment},
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        _running.add(self)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code; None while the process runs."""
        return self._process.poll()

    def terminate(self, patience: float = 30) -> int:
        """Stop the process (SIGTERM), kill it after `patience` seconds, and return its code."""
        if self.exit_code is None:
            self._process.terminate()
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                return self.kill()
        return self._ended()

    def kill(self) -> int:
        """Kill the process and its child processes (SIGKILL), and return its exit code."""
        if self.exit_code is None:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
        return self._ended()

    def wait(self, timeout: float) -> int:
        """Wait until the process has ended, and return its exit code.

        Raises:
            TimeoutError: if the process still runs after the timeout in seconds.
        """
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still running after {timeout} s:\n{self.tail()}") from None
        return self._ended()

    def tail(self, lines: int = 40) -> str:
        """Return the last lines of the output."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _ended(self) -> int:
        _running.discard(self)
        # Child processes may still run, for example the JVM of a Python program.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        return self._process.wait()


@atexit.register
def _kill_all() -> None:
    for process in list(_running):
        process.kill()


def _exit_on_terminate() -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
