# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Queries that end with their test, and a gate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faults.gate import Gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def no_query_stays(spark: SparkSession) -> Iterator[None]:
    """Stops what a failed test leaves, before its servers go."""
    yield
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A closed gate, opened in the end so that no task stays behind it."""
    made = Gate(tmp_path / "gate")
    yield made
    made.open()
