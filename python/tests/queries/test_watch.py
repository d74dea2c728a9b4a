# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Bars of watch(), and the display in a notebook."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from progress_reports import report
from rich.console import Console

from splice import OptionError, watch
from splice._internal import jvm
from splice._internal.progress import screens
from splice._internal.progress.bars import Bar, Bars, Switch
from splice._internal.progress.loop import show
from splice._internal.progress.screens import LogScreen, TerminalScreen


def files(batch: int, read: int, left: int, leg: str = "history") -> dict[str, Any]:
    """Return a report of a leg of 4 files."""
    shown = report(batch, batch, rows=10, leg=leg, bytesBehind=left)
    shown["sources"][0]["metrics"]["position"] = f"{read} of 4 files"
    shown["sources"][0]["endOffset"] = json.dumps({"legs": {leg: {}}})
    return shown


def kafka(batch: int, behind: int, *before: str) -> dict[str, Any]:
    """Return a report of the leg ``live``."""
    shown = report(batch, batch, rows=50, leg="live", rowsBehind=behind, secondsBehind=61)
    legs = {name: {} for name in (*before, "live")}
    shown["sources"][0]["endOffset"] = json.dumps({"legs": legs})
    return shown


def lines(bars: Bars) -> list[str]:
    return [bar.line() for bar in bars.all]


def test_one_bar_per_leg() -> None:
    bars = Bars("orders")
    assert bars.add(files(0, 1, 3 * 2**20)) == []
    assert bars.add(files(1, 2, 2 * 2**20)) == []
    assert lines(bars) == ["history: 50 %, 2 of 4 files, 2.0 MiB left, 1.0 MiB/s, 2 s remaining"]
    assert bars.add(kafka(2, 100, "history")) == [Switch("history", "live", "live")]
    # The report of the last batch of the history is missing.
    assert lines(bars) == [
        "history: 100 %, 4 of 4 files, 1.0 MiB/s",
        "live: 0 %, 100 unread rows, 50 rows/s, lag 1 min 1 s",
    ]
    assert [bar.is_current for bar in bars.all] == [False, True]
    bars.add(kafka(3, 40, "history"))
    assert lines(bars)[1] == "live: 60 %, 40 unread rows, 50 rows/s, lag 1 min 1 s, 1 s remaining"
    bars.add(kafka(4, 0, "history"))
    assert lines(bars)[1] == "live: 100 %, 0 unread rows, 50 rows/s, lag 1 min 1 s"


def test_an_offset_as_the_text_of_a_dict() -> None:
    bars = Bars("orders")
    bars.add(files(0, 1, 100))
    shown = kafka(9, 5, "history", "recent")
    shown["sources"][0]["endOffset"] = str(json.loads(shown["sources"][0]["endOffset"]))
    assert [(one.before, one.after) for one in bars.add(shown)] == [
        ("history", "recent"),
        ("recent", "live"),
    ]


def test_shares_are_not_below_the_number_of_files() -> None:
    shares = [Bar("a", n / 100).cells()[0] for n in range(101)]
    assert shares == [f"{n} %" for n in range(101)]


def test_an_equal_report_has_no_effect() -> None:
    bars = Bars("orders")
    for _ in range(3):
        bars.add(kafka(0, 10))
        bars.add(kafka(0, 10))
    assert lines(bars) == ["live: 0 %, 10 unread rows, 50 rows/s, lag 1 min 1 s"]


def test_legs_that_ended_before_the_first_report_or_between_two_reports() -> None:
    bars = Bars("orders")
    assert bars.add(kafka(9, 5, "history", "recent")) == []
    assert [line.split(":")[0] for line in lines(bars)] == ["history", "recent", "live"]
    assert lines(bars)[0] == "history: 100 %, ended"
    bars = Bars("orders")
    bars.add(files(0, 1, 100))
    assert bars.add(kafka(9, 5, "history", "recent")) == [
        Switch("history", "recent", "recent"),
        Switch("recent", "live", "live"),
    ]


def test_several_sources_and_sources_without_legs() -> None:
    both = kafka(0, 10)
    both["sources"].insert(0, report(0, 0)["sources"][0])
    both["sources"].insert(0, {"description": "rate", "metrics": {}})
    bars = Bars("orders")
    bars.add(both)
    assert [bar.name for bar in bars.all] == ["1: orders", "2: live"]
    assert lines(bars)[0] == "1: orders: p, 0 rows/s"


@dataclass
class Query:
    """A query that returns one more report per refresh, and then ends."""

    reports: list[dict[str, Any]]
    error: Exception | None = None
    name: str = "orders"
    id: str = "c0ffee"
    recentProgress: list[dict[str, Any]] = field(default_factory=list)  # noqa: N815

    @property
    def isActive(self) -> bool:  # noqa: N802
        return len(self.reports) > 1

    @property
    def lastProgress(self) -> dict[str, Any]:  # noqa: N802
        return self.reports.pop(0)

    def exception(self) -> Exception | None:
        return self.error


FAST = timedelta(milliseconds=50)
BOTH = [files(0, 2, 100), kafka(1, 10, "history"), kafka(2, 0, "history")]


def log(query: Query, timeout: timedelta | None = None) -> list[str]:
    console = Console(file=io.StringIO(), width=40)
    show(query, LogScreen(console, "orders"), FAST, timeout)  # type: ignore[arg-type]
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    return [line.split(" orders: ", 1)[1] for line in written.splitlines()]


def test_a_log_file_has_one_line_per_change() -> None:
    same = [*BOTH[:1], *BOTH[:1], *BOTH]
    assert log(Query(same)) == [
        "history: 50 %, 2 of 4 files, 100 B left, 10 rows/s",
        "2026-11-26T14:00:01.000Z switch history -> live",
        "history: 100 %, 4 of 4 files, 10 rows/s",
        "live: 0 %, 10 unread rows, 50 rows/s, lag 1 min 1 s",
        "live: 100 %, 0 unread rows, 50 rows/s, lag 1 min 1 s",
        "The query has ended.",
    ]


def test_the_error_of_the_query_is_the_last_line() -> None:
    assert log(Query(BOTH[:1], ValueError("no disk")))[-1] == "The query failed: no disk"


def test_the_query_continues_after_the_timeout() -> None:
    query = Query([kafka(n, 10) for n in range(1000)])
    assert log(query, timedelta(milliseconds=120))[-1] == "The query continues."
    assert query.isActive


def test_a_session_that_has_stopped_ends_the_display() -> None:
    class Stopped(Query):
        @property
        def isActive(self) -> bool:  # noqa: N802
            raise ConnectionError("no JVM")

    assert log(Stopped(BOTH)) == ["The query does not respond: no JVM"]


def test_another_error_is_not_hidden() -> None:
    class Wrong(Query):
        @property
        def isActive(self) -> bool:  # noqa: N802
            raise KeyError("x")

    with pytest.raises(KeyError):
        log(Wrong(BOTH))


def test_a_switch_without_a_readable_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    def history_of(_: str) -> str:
        raise OSError("no checkpoint")

    monkeypatch.setattr(jvm, "history_of", history_of)
    shown = log(Query(list(BOTH)))
    assert "2026-11-26T14:00:01.000Z switch history -> live" in shown
    assert shown[-1] == "The query has ended."


def test_each_source_has_its_own_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def event(source: int, rule: str) -> dict[str, Any]:
        details = {"at": "t", "rule": rule, "start": "offsets"}
        return {"source": f"{source}/leg-live", "event": "handOver", "details": details}

    monkeypatch.setattr(jvm, "history_of", lambda _: json.dumps([event(0, "a"), event(1, "b")]))
    reports = [files(0, 2, 100), kafka(1, 10, "history")]
    for one in reports:
        one["sources"] *= 2
    shown = [line for line in log(Query(reports)) if "switch" in line]
    assert [line.partition(" switch ")[2] for line in shown] == [
        "0: history -> 0: live; live: a; decided at t, start: offsets, watermark delay: unknown",
        "1: history -> 1: live; live: b; decided at t, start: offsets, watermark delay: unknown",
    ]


@pytest.mark.parametrize("wrong", ["1s", True, float("nan"), float("inf"), [1]])
@pytest.mark.parametrize("argument", ["refresh", "timeout"])
def test_a_time_is_checked_before_the_screen_starts(
    monkeypatch: pytest.MonkeyPatch, argument: str, wrong: Any
) -> None:
    monkeypatch.setattr(screens, "screen", lambda _: pytest.fail("the screen has started"))
    with pytest.raises(OptionError, match=f"'{argument}' is .*, which is not a time") as raised:
        watch(Query(list(BOTH)), **{argument: wrong})  # type: ignore[arg-type]
    assert raised.value.getCondition() == "SPLICE_BUILDER.INVALID_TIME_SPAN"


def test_times_in_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    query = Query([kafka(n, 10) for n in range(1000)])
    watch(query, refresh=0.05, timeout=0)  # type: ignore[arg-type]
    assert "The query continues." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("term", "isatty", "kind"),
    [("xterm", True, TerminalScreen), ("dumb", True, LogScreen), ("xterm", False, LogScreen)],
)
def test_only_a_terminal_with_a_cursor_has_bars(
    monkeypatch: pytest.MonkeyPatch, term: str, isatty: bool, kind: type
) -> None:
    output = io.StringIO()
    monkeypatch.setattr(output, "isatty", lambda: isatty, raising=False)
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = screens.screen("orders")
    shown.note("a line")
    shown.close()
    assert type(shown) is kind
    assert ("\x1b" in output.getvalue()) == (kind is TerminalScreen)


def test_a_terminal_shows_bars_and_lines_of_switches() -> None:
    console = Console(file=io.StringIO(), record=True, force_terminal=True, width=120)
    show(Query(list(BOTH)), TerminalScreen(console, "orders"), FAST, None)  # type: ignore[arg-type]
    shown = console.export_text()
    assert "switch history -> live" in shown
    assert "━" in shown
    assert "The query has ended." in shown


def test_a_notebook_updates_one_display(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[Any] = []
    shown: list[bool] = []

    def display(page: Any, *, display_id: bool) -> SimpleNamespace:
        shown.append(display_id)
        pages.append(page)
        return SimpleNamespace(update=pages.append)

    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    package.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    watch(Query(list(BOTH)), refresh=FAST)  # type: ignore[arg-type]
    assert shown == [True]
    html = pages[-1]._repr_html_()
    assert '<progress max="1" value="1.000"></progress>' in html
    assert "<b>live</b>" in html
    assert "switch history -&gt; live" in html
    assert "color" not in html
    assert repr(pages[-1]).splitlines()[-1] == "The query has ended."
    # A page does not change after its display.
    assert "live" not in repr(pages[0])
