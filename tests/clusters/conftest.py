# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Three clusters for all tests of this folder, and one document per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import Atlas
from driver_log import DriverLog
from servers.clusters import Clusters


@pytest.fixture(autouse=True)
def no_query_stays(spark: SparkSession) -> Iterator[None]:
    """Stop the queries of a failed test."""
    yield
    for query in spark.streams.active:
        query.stop()


@pytest.fixture(scope="package")
def clusters() -> Iterator[Clusters]:
    """Three clusters. A test that stops a cluster must restart the cluster."""
    with Clusters() as started:
        yield started


@pytest.fixture
def driver_log(spark: SparkSession, tmp_path: Path) -> Iterator[DriverLog]:
    """Log of the driver during the test."""
    with DriverLog(spark, tmp_path) as log:
        yield log


@pytest.fixture
def atlas(clusters: Clusters, tmp_path: Path) -> Atlas:
    """An atlas without streams."""
    return Atlas(clusters, tmp_path)
