# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Age of the oldest record of a log, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from splice._internal import tables
from splice._internal.progress import units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta


def table(
    ages: Sequence[timedelta | None],
) -> list[tuple[Sequence[str], list[tuple[str, ...]], int]]:
    """Return a table, if a source reads a history before a log.

    Args:
        ages: The age of the oldest record of the next log of each source.
    """
    if all(age is None for age in ages):
        return []
    texts = [None if age is None else units.duration(age.total_seconds()) for age in ages]
    return [(("oldest record of the log",), [tables.cells((text,)) for text in texts], 0)]
