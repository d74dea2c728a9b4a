# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Displays of bars in a terminal, a notebook and a log file."""

from __future__ import annotations

import sys
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    from splice._internal.progress.bars import Bar

_COLUMNS = 7


class Screen(Protocol):
    """Display of a query."""

    def show(self, bars: list[Bar]) -> None:
        """Show the bars instead of the previous bars."""

    def note(self, text: str) -> None:
        """Show a line that remains."""

    def close(self) -> None:
        """End the display. The last bars remain."""


def screen(name: str) -> Screen:
    """Return the screen of a notebook, of a terminal, or of a log file."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is not None:
        return NotebookScreen(name)
    from rich.console import Console

    console = Console()
    return TerminalScreen(console, name) if _has_cursor(console) else LogScreen(console, name)


def _has_cursor(console: Console) -> bool:
    """Return True if the console can draw the bars again. FORCE_COLOR makes a file a terminal."""
    isatty = getattr(console.file, "isatty", None)
    return (
        console.is_terminal
        and not console.is_dumb_terminal
        and isatty is not None
        and bool(isatty())
    )


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
    for number in range(_COLUMNS):
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
