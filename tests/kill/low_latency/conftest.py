# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One topic with orders per test, and a query that copies the orders."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kill.copies import ROWS, Copies
from kill.relay import Relay
from servers.kafka.topics import KafkaTopics


@pytest.fixture
def copies(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> Copies:
    """A topic with orders, and a query that is not started."""
    created = Copies(Relay(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path))
    created.relay.given(session=spark)
    created.relay.produce(ROWS)
    return created
