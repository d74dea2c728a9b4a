# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Spark's Kafka sink and source in the same session, with the same client."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import archive, history, history_then_live, live, order_id, orders
from programs.launch import run
from servers.kafka import spark_jars
from servers.kafka.topics import KafkaTopics

ORDERS = range(200)


@pytest.mark.skipif(not spark_jars.FIT, reason=spark_jars.WHY)
@pytest.mark.parametrize("tracking", ["plain", "async"])
def test_orders_are_copied(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
    tracking: str,
) -> None:
    topic, copy = make_topic(), make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(topics, topic, history_path, {0: 10, 1: 40, 2: 3})
    source = history_then_live(
        history(history_path, maxFilesPerTrigger="1"),
        live(topics, topic, maxOffsetsPerTrigger="50"),
    )
    sink = {"kafka.bootstrap.servers": topics.bootstrap_servers, "topic": copy}
    if tracking == "async":
        sink["asyncProgressTrackingEnabled"] = "true"
    conf = {"spark.jars": ",".join(spark_jars.jars())}
    arguments = [json.dumps(each) for each in (source.options(), sink, conf)]
    run([sys.executable], "to_kafka", *arguments, str(tmp_path), str(len(ORDERS)))
    copied = Counter((message.key() or b"").decode() for message in topics.records(copy))
    assert copied == Counter(order_id(number) for number in ORDERS)
