# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Three clusters for all tests here, and a document of its own for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clusters.atlas import Atlas
from driver_log import DriverLog
from servers.clusters import Clusters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def no_query_stays(spark: SparkSession) -> Iterator[None]:
    """Stops what a failed test leaves."""
    yield
    for query in spark.streams.active:
        query.stop()


@pytest.fixture(scope="package")
def clusters() -> Iterator[Clusters]:
    """Three clusters, which a test may stop and must bring back."""
    with Clusters() as started:
        yield started


@pytest.fixture
def driver_log(spark: SparkSession, tmp_path: Path) -> Iterator[DriverLog]:
    """What the driver logs during the test."""
    with DriverLog(spark, tmp_path) as log:
        yield log


@pytest.fixture
def atlas(clusters: Clusters, tmp_path: Path) -> Atlas:
    """Streams that lie nowhere yet."""
    return Atlas(clusters, tmp_path)
