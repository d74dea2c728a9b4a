# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Loop that shows a query on a screen until the query ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from splice._internal import jvm
from splice._internal.progress.bars import Bars
from splice.queries.switches import switches_of

if TYPE_CHECKING:
    from datetime import timedelta

    from pyspark.sql.streaming.query import StreamingQuery

    from splice._internal.progress.bars import Switch
    from splice._internal.progress.screens import Screen

_LEAST_REFRESH = 0.05


def show(
    query: StreamingQuery, screen: Screen, refresh: timedelta, timeout: timedelta | None
) -> None:
    """Show a query on a screen."""
    pause = min(max(refresh.total_seconds(), _LEAST_REFRESH), threading.TIMEOUT_MAX)
    end = None if timeout is None else time.monotonic() + timeout.total_seconds()
    waits = threading.Event()
    try:
        bars = Bars(query.name or str(query.id))
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
    except jvm.unavailable() as error:
        # For example, the session has stopped, or the server of Spark Connect does not respond.
        screen.note(f"The query does not respond: {error}")
    finally:
        screen.close()


def _add(query: StreamingQuery, bars: Bars, report: Mapping[str, Any], screen: Screen) -> None:
    for switch in bars.add(report):
        rule = _rule(query, switch)
        screen.note(f"{report['timestamp']} switch {switch.before} -> {switch.after}{rule}")


def _rule(query: StreamingQuery, switch: Switch) -> str:
    """Return the rule of a switch from the checkpoint; an empty text if the rule is unknown."""
    taken = switches_of(query)
    key = (switch.source, switch.leg)
    return next((f"; {one.title()}" for one in taken if (one.source, one.leg) == key), "")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, without PySpark's handler, which cancels all jobs."""
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread may set a handler. A handler of a native library cannot be restored.
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
