# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commits of Spark's committed offsets to a consumer group."""

from __future__ import annotations

import uuid
from pathlib import Path

from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import orders
from servers.kafka.topics import KafkaTopics
from splice import KafkaSource, OffsetsInitializer
from streams import drain


def test_the_group_has_the_offsets_of_the_checkpoint_when_a_query_ends(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, group = make_topic(), f"group-{uuid.uuid4().hex[:8]}"
    source = (
        KafkaSource.builder()
        .bootstrap_servers(topics.bootstrap_servers)
        .topics(topic)
        .starting_offsets(OffsetsInitializer.earliest())
        .commit_to_group(group)
        .build()
    )
    topics.produce(topic, orders(range(60), 3))
    drain(source.read_stream(spark), tmp_path)
    assert topics.committed(group, topic) == dict.fromkeys(range(3), 20)
    topics.produce(topic, orders(range(60, 90), 3))
    drain(source.read_stream(spark), tmp_path)
    assert topics.committed(group, topic) == dict.fromkeys(range(3), 30)
