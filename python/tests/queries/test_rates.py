# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Rates and remaining time from progress reports."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from progress_reports import report

from splice._internal.progress.rates import Rates, of


def rates(*reports: dict[str, Any]) -> Rates:
    return of(reports, 0)


def test_no_report_has_no_rates() -> None:
    assert rates() == Rates()


def test_one_report_of_files_has_only_rows_per_second() -> None:
    assert rates(report(0, 0, took=2, rows=100, bytesBehind=500)) == Rates(50)


def test_files_have_bytes_per_second_until_their_end() -> None:
    first = report(0, 0, rows=10, bytesBehind=900)
    # 700 bytes at 200 bytes per second are 3.5 seconds.
    found = rates(first, report(1, 1, rows=30, bytesBehind=700))
    assert found == Rates(20, 200, timedelta(seconds=4))
    ended = rates(first, report(1, 1, rows=30, bytesBehind=0))
    assert ended == Rates(20, 900, timedelta(0))


def test_batches_of_different_lengths_count_by_their_time() -> None:
    found = rates(
        report(0, 0, took=1, rows=100, rowsBehind=1000),
        report(1, 1, took=8, rows=400, rowsBehind=600),
        report(2, 9, took=1, rows=0, rowsBehind=600),
    )
    # 500 rows in 10 seconds. The backlog shrinks by 400 rows in 9 seconds.
    assert found == Rates(50, None, timedelta(seconds=14))


def test_the_wait_for_the_next_trigger_counts() -> None:
    found = rates(
        report(0, 0, took=1, rows=100, rowsBehind=300),
        report(1, 10, took=1, rows=100, rowsBehind=200),
    )
    assert found == Rates(200 / 11, None, timedelta(seconds=20))


def test_missing_reports_do_not_change_the_rate() -> None:
    found = rates(
        report(0, 0, took=1, rows=100, rowsBehind=1000),
        report(10, 10, took=1, rows=100, rowsBehind=0),
    )
    assert found.rows_per_second == 100


@pytest.mark.parametrize("behind", [100, 101])
def test_a_backlog_that_does_not_shrink_has_no_end(behind: int) -> None:
    found = rates(report(0, 0, rows=10, rowsBehind=100), report(1, 1, rows=10, rowsBehind=behind))
    assert found == Rates(10)


def test_an_empty_backlog_needs_no_rate() -> None:
    assert rates(report(0, 0, rowsBehind=0)).remaining == timedelta(0)


def test_a_list_of_files_that_grew_has_no_bytes_per_second() -> None:
    found = rates(report(0, 0, bytesBehind=100), report(1, 1, bytesBehind=300))
    assert (found.bytes_per_second, found.remaining) == (None, None)


def test_a_report_without_a_backlog_is_skipped() -> None:
    found = rates(
        report(0, 0, rows=5, rowsBehind=100),
        report(1, 1, rows=5),
        report(2, 2, rows=5, rowsBehind=50),
    )
    assert found == Rates(5, None, timedelta(seconds=2))
    # The last report has no backlog, for example in a run that first repeats a batch.
    assert rates(report(0, 0, rows=5, rowsBehind=9), report(1, 1, rows=5)) == Rates(5)


def test_another_leg_and_another_run_begin_again() -> None:
    history = report(0, 0, rows=1000, leg="history", bytesBehind=100)
    assert rates(history, report(1, 1, rows=7, leg="live", rowsBehind=70)) == Rates(7)
    before = report(4, 0, rows=1000, rowsBehind=900)
    assert rates(before, report(4, 1, rows=7, rowsBehind=70, run="b")) == Rates(7)


def test_a_clock_that_moves_backwards_begins_again() -> None:
    found = rates(
        report(0, 100, rows=1000, rowsBehind=900),
        report(1, 50, rows=10, rowsBehind=90),
        report(2, 51, rows=10, rowsBehind=80),
    )
    assert found == Rates(10, None, timedelta(seconds=8))


def test_reports_at_the_same_time_have_no_remaining_time() -> None:
    found = rates(report(0, 0, took=0, rowsBehind=9), report(1, 0, took=0, rowsBehind=5))
    assert found == Rates()


def test_old_reports_do_not_count() -> None:
    old = [report(n, n, rows=9000, rowsBehind=10**6) for n in range(10)]
    new = [report(n + 10, n + 1000, rows=10, rowsBehind=1000 - n * 10) for n in range(10)]
    assert rates(*old, *new) == Rates(10, None, timedelta(seconds=91))


def test_long_batches_count_regardless_of_their_age() -> None:
    found = rates(*(report(n, n * 1200, 1200, 1200, bytesBehind=5000 - n * 600) for n in range(3)))
    assert found == Rates(1, 0.5, timedelta(seconds=7600))


def test_broken_reports_are_skipped() -> None:
    good = report(0, 0, rows=5, rowsBehind=9)
    no_time = good | {"timestamp": "soon"}
    no_source = good | {"sources": []}
    no_figures = good | {"sources": [{}], "durationMs": None}
    assert rates(no_time, no_source, no_figures) == Rates()
    assert rates(report(0, 0, rows=5, rowsBehind="many")) == Rates(5)


@pytest.mark.parametrize(
    ("backlog", "remaining"),
    [
        ({0: 0, 240: 9000, 241: 8000, 242: 7000, 243: 6000}, timedelta(seconds=6)),
        ({0: 5, 240: 9000, 241: 4000, 242: 1000, 243: 4}, timedelta(0)),
    ],
)
def test_the_remaining_time_after_a_burst(backlog: dict[int, int], remaining: timedelta) -> None:
    found = rates(*(report(n, n, rows=9, rowsBehind=rows) for n, rows in backlog.items()))
    assert found.remaining == remaining


def test_the_rate_of_files_counts_from_the_first_report() -> None:
    sizes = (1000, 1200, 900)
    found = rates(*(report(n, n, bytesBehind=size) for n, size in enumerate(sizes)))
    # The backlog shrinks by 100 bytes in 2 seconds, and by 300 bytes since the maximum.
    assert (found.bytes_per_second, found.remaining) == (50, timedelta(seconds=3))


def test_an_idle_time_begins_a_new_estimate() -> None:
    evening = [report(n, n, rows=10, rowsBehind=0) for n in range(10)]
    morning = report(10, 40_000, rows=1000, rowsBehind=0)
    assert rates(*evening, morning).rows_per_second == 1000


def test_the_wait_of_a_long_trigger_is_no_idle_time() -> None:
    found = rates(*(report(n, n * 600, rows=6, rowsBehind=50 - 10 * n) for n in range(3)))
    assert found == Rates(18 / 1201, None, timedelta(seconds=1800))
