# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Texts of numbers, sizes and durations."""

from __future__ import annotations

import pytest

from splice._internal.progress import units


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, None), (0, "0"), (0.44, "0.4"), (7.0, "7"), (120934, "120,934"), (1234.5, "1,234")],
)
def test_numbers(value: float | None, text: str | None) -> None:
    assert units.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (14512080, "13.8 MiB"),
        (2**20 - 1, "1.0 MiB"),
        (3.1 * 2**40, "3.1 TiB"),
        (2**70, "1,048,576.0 PiB"),
    ],
)
def test_sizes(value: float | None, text: str | None) -> None:
    assert units.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (0, "0 s"),
        (0.07, "70 ms"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3661, "1 h 1 min"),
        (3605, "1 h"),
        (3 * 86400 + 4 * 3600, "3 d 4 h"),
    ],
)
def test_durations(value: float | None, text: str | None) -> None:
    assert units.duration(value) == text


def test_milliseconds() -> None:
    assert (units.milliseconds(None), units.milliseconds(61_000)) == (None, "1 min 1 s")
