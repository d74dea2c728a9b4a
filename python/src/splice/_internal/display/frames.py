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
    found = pd.DataFrame([dict(row) for row in rows], columns=list(columns))
    # Without a conversion, an integer column with a missing value has floating-point numbers.
    return found.convert_dtypes(convert_string=False, convert_boolean=False, convert_floating=False)
