# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One scenario per test."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kill.scenario import Scenario
from servers.kafka.topics import KafkaTopics


@pytest.fixture
def scenario(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> Scenario:
    """A small history, a topic, and a query that is not started."""
    return _made(spark, topics, tmp_path, holes=False)


@pytest.fixture
def holed(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> Scenario:
    """A scenario whose history lacks records of the topic."""
    return _made(spark, topics, tmp_path, holes=True)


def _made(spark: SparkSession, topics: KafkaTopics, folder: Path, holes: bool) -> Scenario:
    made = Scenario.make(topics, f"orders-{uuid.uuid4().hex[:8]}", folder, holes=holes)
    made.given(session=spark)
    return made
