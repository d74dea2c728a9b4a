# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Late rows of a Kafka source, as text."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from splice._internal import tables
from splice._internal.progress import units

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADINGS = ("delay needed", "rows held")


def delay(millis: int | None) -> timedelta | None:
    """Return a number of milliseconds as a duration; None if unknown."""
    return None if millis is None else timedelta(milliseconds=millis)


def table(
    sources: Sequence[tuple[timedelta | None, int | None]],
) -> list[tuple[Sequence[str], list[tuple[str, ...]], int]]:
    """Return a table, if a source needs a delay or holds rows.

    Args:
        sources: The delay, and the number of offsets that wait for their time, of each source.
    """
    if not any(needed or held for needed, held in sources):
        return []
    return [(_HEADINGS, [_cells(needed, held) for needed, held in sources], 0)]


def _cells(needed: timedelta | None, held: int | None) -> tuple[str, ...]:
    seconds = None if needed is None else units.duration(math.ceil(needed.total_seconds()))
    return tables.cells((seconds, units.number(held)))
