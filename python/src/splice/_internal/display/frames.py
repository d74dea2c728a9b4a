# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Data frames of pandas, which is an optional package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from splice.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd


def frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a data frame. A column of integers may have missing values.

    Raises:
        SetupError: if pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise SetupError.of("SPLICE_SETUP.PANDAS_NOT_FOUND") from error
    data = [dict(row) for row in rows]
    found = pd.DataFrame(data, columns=list(columns))
    for column in columns:
        values = [row.get(column) for row in data]
        # Without a conversion, an integer column with a missing value has floating-point numbers.
        if _are_integers(values):
            found[column] = pd.array(values, dtype="Int64")
    return found


def _are_integers(values: Sequence[object]) -> bool:
    """Return True for integers of 64 bits and missing values. A bool is not an integer."""
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        for value in present
    )
