# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A pair of queries per test."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from compat.pair import Pair
from servers.kafka import spark_jars
from servers.kafka.topics import KafkaTopics


@pytest.fixture
def pair(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> Pair:
    """The two sources in one session, each with a separate folder."""
    if not spark_jars.FIT:
        pytest.skip(spark_jars.WHY)
    return Pair(spark, topics, tmp_path)
