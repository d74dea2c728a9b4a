# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors of queries, and checks of their texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from splice import SourceSpec
from streams import drain


def failure(spark: SparkSession, source: SourceSpec, folder: Path) -> str:
    """Return the text of the error that ends a query over a source."""
    with pytest.raises(PySparkException) as raised:
        drain(source.read_stream(spark), folder)
    return str(raised.value)


def assert_says(text: str, *patterns: str) -> None:
    """Assert that a text matches all patterns, regardless of case and line breaks."""
    assert not lacks(text, *patterns), lacks(text, *patterns)


def lacks(text: str, *patterns: str) -> str | None:
    """Return the patterns that a text does not match with the text; None if it matches all."""
    missing = [p for p in patterns if not re.search(p, text, re.IGNORECASE | re.DOTALL)]
    return f"{missing} not in: {text[:2000]}" if missing else None
