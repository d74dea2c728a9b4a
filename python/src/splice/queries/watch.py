# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of a running query in a terminal, a notebook or a log file."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from splice._internal import jvm
from splice.queries.bars import Bars
from splice.queries.switches import switches

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    from splice.queries.bars import Bar

_HEADINGS = ("leg", "", "done", "", "rate", "lag", "remaining")
_LEAST_REFRESH = 0.05


class Screen(Protocol):
    """Display of a query."""

    def show(self, bars: list[Bar]) -> None:
        """Show the bars instead of the previous bars."""

    def note(self, text: str) -> None:
        """Show a line that remains."""

    def close(self) -> None:
        """End the display. The last bars remain."""


def watch(
    query: StreamingQuery,
    *,
    refresh: timedelta = timedelta(seconds=1),
    timeout: timedelta | None = None,
) -> None:
    """Show one bar per leg of a query until the query ends.

    A bar has the done share, the position or the backlog, the rate, the lag and the remaining time.
    A line for each switch has the time and the rule. In a terminal and in a notebook, the function
    updates the bars. Otherwise, the function prints one line per change, for example into a log
    file. If the query fails, the last line is the error of the query.

    Ctrl-C and the interrupt of a notebook end the function, and the query continues. The function
    starts no thread, sends no request to the sources, and raises no error of the query. Legs that
    have not begun have no bar. With Spark Connect, the line of a switch has no rule.

    Args:
        query: A running or ended query.
        refresh: Time between two reads of the query's last progress report, at least 50
            milliseconds. Default: 1 second.
        timeout: Time after which the function ends, and the query continues. Default: no limit.

    Example:
        >>> from datetime import timedelta
        >>> from splice import watch
        >>> watch(query, timeout=timedelta(seconds=1))  # doctest: +ELLIPSIS
        ...
    """
    run(query, _screen(query.name or str(query.id)), refresh, timeout)


def run(
    query: StreamingQuery, screen: Screen, refresh: timedelta, timeout: timedelta | None
) -> None:
    """Show a query on a screen."""
    bars = Bars(query.name or str(query.id))
    pause = max(refresh.total_seconds(), _LEAST_REFRESH)
    end = None if timeout is None else time.monotonic() + timeout.total_seconds()
    waits = threading.Event()
    try:
        with _interruptible():
            # The state has the rates and the switches of the query before this call.
            for report in query.recentProgress:
                _add(query, bars, report, screen)
            is_active = True
            while is_active:
                # A query that ends after this line has its last report after this line.
                is_active = query.isActive
                last = query.lastProgress
                if last is not None:
                    _add(query, bars, last, screen)
                screen.show(bars.all)
                left = pause if end is None else min(pause, end - time.monotonic())
                if is_active and left <= 0:
                    screen.note("The query continues.")
                    return
                if is_active:
                    waits.wait(left)
            error = query.exception()
            screen.note("The query has ended." if error is None else f"The query failed: {error}")
    except KeyboardInterrupt:
        screen.note("The query continues.")
    except Exception as error:
        # For example, the session has stopped, or the server of Spark Connect does not respond.
        screen.note(f"The query does not respond: {error}")
    finally:
        screen.close()


def _add(query: StreamingQuery, bars: Bars, report: Mapping[str, Any], screen: Screen) -> None:
    for switch in bars.add(report):
        taken = {one.leg: one for one in switches(jvm.history_of(str(query.id)))}
        rule = f"; {taken[switch.leg].title()}" if switch.leg in taken else ""
        screen.note(f"{report['timestamp']} switch {switch.before} -> {switch.after}{rule}")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, without PySpark's handler, which cancels all jobs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _screen(name: str) -> Screen:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is not None:
        return NotebookScreen(name)
    from rich.console import Console

    console = Console()
    return TerminalScreen(console, name) if console.is_terminal else LogScreen(console, name)


class TerminalScreen:
    """Bars of rich in a terminal."""

    def __init__(self, console: Console, name: str) -> None:
        """Begin the display below the lines of the terminal."""
        from rich.live import Live

        self._console = console
        self.note(name)
        # Each show() draws the bars. A thread of rich would draw between two reports.
        self._live: Live = Live(console=console, auto_refresh=False, transient=False)
        self._live.start()

    def show(self, bars: list[Bar]) -> None:
        """Draw the bars again."""
        self._live.update(_grid(bars), refresh=True)

    def note(self, text: str) -> None:
        """Print a line above the bars."""
        self._console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        """Leave the last bars in the terminal."""
        self._live.stop()


def _grid(bars: list[Bar]) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for number, _ in enumerate(_HEADINGS):
        grid.add_column(justify="left" if number < 2 else "right", no_wrap=number != 3)
    for bar in bars:
        line = "" if bar.share is None else ProgressBar(1.0, bar.share, width=20)
        texts = [Text(cell) for cell in bar.cells()]
        grid.add_row(Text(bar.name, style="bold" if bar.is_current else ""), line, *texts)
    return grid


class LogScreen:
    """One line per change."""

    def __init__(self, console: Console, name: str) -> None:
        """Begin without lines."""
        self._console = console
        self._name = name
        self._lines: dict[str, tuple[str, ...]] = {}

    def show(self, bars: list[Bar]) -> None:
        """Print a line for each leg whose share, position or backlog has changed."""
        for bar in bars:
            shown = bar.cells()[:2]
            if self._lines.get(bar.name) != shown:
                self._lines[bar.name] = shown
                self.note(bar.line())

    def note(self, text: str) -> None:
        """Print a line with the time and the query."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        self._console.print(
            f"{now} {self._name}: {text}", markup=False, highlight=False, soft_wrap=True
        )

    def close(self) -> None:
        """Print nothing."""


class NotebookScreen:
    """A display of a notebook, which each update replaces."""

    def __init__(self, name: str) -> None:
        """Begin without a display."""
        self._name = name
        self._bars: list[Bar] = []
        self._notes: list[str] = []
        self._handle: Any = None

    def show(self, bars: list[Bar]) -> None:
        """Replace the bars in the notebook."""
        self._bars = bars
        self._draw()

    def note(self, text: str) -> None:
        """Add a line below the bars."""
        self._notes.append(text)
        self._draw()

    def close(self) -> None:
        """Leave the last display in the notebook."""

    def _draw(self) -> None:
        page = _Page(self._name, self._bars, self._notes)
        if self._handle is None:
            from IPython.display import display

            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)


class _Page:
    """Bars and notes as HTML, with the colors of the notebook, and as text."""

    def __init__(self, name: str, bars: list[Bar], notes: list[str]) -> None:
        self._name, self._bars, self._notes = name, list(bars), list(notes)

    def __repr__(self) -> str:
        return "\n".join([self._name, *(bar.line() for bar in self._bars), *self._notes])

    def _repr_html_(self) -> str:
        rows = "".join(_row(bar) for bar in self._bars)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes)
        return f"<p>{escape(self._name)}</p><table>{rows}</table>{notes}"


def _row(bar: Bar) -> str:
    share = "" if bar.share is None else f'<progress max="1" value="{bar.share:.3f}"></progress>'
    name = f"<b>{escape(bar.name)}</b>" if bar.is_current else escape(bar.name)
    cells = "".join(f'<td style="text-align: right">{escape(cell)}</td>' for cell in bar.cells())
    return f'<tr><td style="text-align: left">{name}</td><td>{share}</td>{cells}</tr>'
