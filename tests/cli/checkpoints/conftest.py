# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One stopped query per kind of source."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from pyspark.sql import SparkSession

from cli.checkpoints.stopped import Stopped
from servers.kafka import spark_jars
from servers.kafka.cluster import KafkaCluster

OfKind = Callable[[str], Stopped]


@pytest.fixture(scope="session")
def stopped(
    spark: SparkSession, kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory
) -> OfKind:
    """Return a function that runs the query of a kind at its first call."""
    folder = tmp_path_factory.mktemp("stopped")

    @cache
    def of(kind: str) -> Stopped:
        if kind == "spark" and not spark_jars.FIT:
            pytest.skip(spark_jars.WHY)
        return Stopped(kind, spark, kafka.topics, folder)

    return of
