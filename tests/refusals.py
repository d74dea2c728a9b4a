# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What a query says when it is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from splice import SourceSpec
from streams import drain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def failure(spark: SparkSession, source: SourceSpec, folder: Path) -> str:
    """Gives the text of the error that ends a query over the source."""
    with pytest.raises(PySparkException) as raised:
        drain(source.read_stream(spark), folder)
    return str(raised.value)


def assert_says(text: str, *patterns: str) -> None:
    """Asserts that a text fits all patterns, whatever its case and line breaks."""
    missing = [p for p in patterns if not re.search(p, text, re.IGNORECASE | re.DOTALL)]
    assert not missing, f"{missing} not in: {text[:2000]}"
