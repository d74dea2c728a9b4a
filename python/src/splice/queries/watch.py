# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of a running query in a terminal, a notebook or a log file."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from splice._internal.progress import loop, screens
from splice._internal.values import time_span

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


def watch(
    query: StreamingQuery,
    *,
    refresh: timedelta | float = timedelta(seconds=1),
    timeout: timedelta | float | None = None,
) -> None:
    """Show one bar per leg of a query until the query ends.

    A bar has the done share, the position or the backlog, the rate, the lag and the remaining time.
    A line for each switch has the time and the rule. In a terminal and in a notebook, the function
    updates the bars. Otherwise, the function prints one line per change, for example into a log
    file. If the query fails, the last line is the error of the query.

    In the main thread, Ctrl-C and the interrupt of a notebook end the function, and the query
    continues. In another thread, only ``timeout`` and the end of the query end the function. The
    function starts no thread, sends no request to the sources, and raises no error of the query.
    Legs that have not begun have no bar. With Spark Connect, and if the checkpoint cannot be read,
    the line of a switch has no rule.

    Args:
        query: A running or ended query.
        refresh: Time between two reads of the query's last progress report, at least 50
            milliseconds, as a timedelta or in seconds. Default: 1 second.
        timeout: Time after which the function ends, and the query continues, as a timedelta or in
            seconds. Default: no limit.

    Raises:
        OptionError: if ``refresh`` or ``timeout`` is not a time.

    Examples:
        >>> from datetime import timedelta
        >>> from splice import watch
        >>> watch(query, timeout=timedelta(seconds=1))  # doctest: +ELLIPSIS
        20...: ...
    """
    pause = time_span("refresh", refresh)
    limit = None if timeout is None else time_span("timeout", timeout)
    name = query.name or str(query.id)
    # A screen replaces the output and hides the cursor, so all arguments are checked before.
    loop.show(query, screens.screen(name), pause, limit)
