# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of queries that use Spark's Kafka source and Splice in turns on one checkpoint."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kill.backend.sample import REAL
from kill.killing import Kill
from kill.query import OURS, SPARKS
from kill.relay import Relay
from rotation import turn
from servers.kafka import spark_jars
from servers.kafka.topics import KafkaTopics

pytestmark = pytest.mark.skipif(not spark_jars.FIT, reason=spark_jars.WHY)


@pytest.fixture
def relay(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> Relay:
    """An empty topic, and a query that is not started."""
    created = Relay(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path)
    created.given(session=spark)
    return created


def test_a_first_batch_that_is_not_finished(relay: Relay) -> None:
    first, second = turn([(SPARKS, OURS), (OURS, SPARKS)])
    # The start is latest, the end of the empty topic, so a later run cannot compute it again.
    relay.die(first, Kill("rename", "/sources/0/0$", "after"), startingOffsets="latest")
    relay.produce(500)
    relay.die(second, Kill.offsets(0, "after"), startingOffsets="latest")
    relay.produce(200)
    relay.die(first, Kill.commits(0), startingOffsets="latest")
    relay.finish(second, startingOffsets="latest")
    relay.assert_each_once()


def test_both_sources_in_turns(relay: Relay) -> None:
    relay.produce(2400)
    relay.die(SPARKS, Kill.offsets(1, "after"), startingOffsets="earliest")
    relay.die(OURS, Kill.commits(3, action=REAL["takeover"].action))
    relay.die(SPARKS, Kill("row", "order", nth=200))
    relay.die(OURS, Kill.commits(4, "after"))
    # Spark's source detects this partition, and Splice determines its start.
    relay.add_partition(400)
    relay.die(SPARKS, Kill.offsets(5, "after"))
    relay.die(OURS, Kill.commits(5))
    relay.die(SPARKS, Kill.commits(6, "after"))
    # Splice detects this partition for an abandoned batch, and then Spark's source detects it.
    relay.add_partition(400)
    relay.die(OURS, Kill.entry("new-partitions-00000001", "after"))
    relay.die(SPARKS, Kill.offsets(7, "after"))
    relay.finish(OURS)
    relay.assert_each_once()
