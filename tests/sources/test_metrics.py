# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a query over Kafka."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import live, orders
from programs.launch import run
from servers.kafka.topics import KafkaTopics
from splice import describe
from streams import drain, start


def test_lag_by_topic_and_partition(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(range(90), 3))
    source = live(topics, topic, startingOffsets="earliest", maxOffsetsPerTrigger="30")
    query = drain(source.read_stream(spark), tmp_path)
    reported = [report["sources"][0]["metrics"] for report in query.recentProgress]
    first, last = reported[0], reported[-1]
    assert [first["rowsBehind"], last["rowsBehind"]] == ["60", "0"]
    assert last["secondsBehind"] == "0"
    # The timestamps of the orders are in the past, so the last read order is old.
    assert int(first["secondsBehind"]) > 0
    assert 60 * 10 < int(first["bytesBehind"]) < 60 * 100
    lag = json.loads(first["topics"])[topic]
    assert (lag["partitions"], lag["rowsBehind"]) == (3, 60)
    assert sorted(one["partition"] for one in json.loads(first["lagging"])) == [
        f"{topic}-{partition}" for partition in range(3)
    ]
    assert json.loads(last["lagging"]) == []
    assert int(first["readersOpenedTotal"]) == 2
    assert int(last["readersReusedTotal"]) >= 2
    assert int(first["pollMsTotal"]) > 0
    assert last["slotMovesTotal"] == "0"
    described = describe(query).sources[0]
    assert described.topics[0].name == topic
    assert described.rows_behind == 0
    assert described.slots == int(last["slots"]) == 2
    assert topic in str(describe(query))


def test_two_queries_of_one_dataframe_have_separate_figures(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(1)
    source = live(topics, topic, startingOffsets="earliest")
    frame = source.read_stream(spark)
    queries = [start(frame, tmp_path / name) for name in "ab"]
    try:
        for turn in range(3):
            topics.produce(topic, orders(range(turn * 10, turn * 10 + 10), 1))
            for query in queries:
                query.processAllAvailable()
    finally:
        for query in queries:
            query.stop()
    for query in queries:
        batches = [b for b in query.recentProgress if b["numInputRows"] > 0]
        reported = [b["sources"][0]["metrics"] for b in query.recentProgress]
        last = [metrics for metrics in reported if metrics][-1]
        used = int(last["readersOpenedTotal"]) + int(last["readersReusedTotal"])
        # A batch of one partition has one task, and a task uses one reader.
        assert used == len(batches) > 0


def test_in_sparks_metric_system(
    topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(range(30), 3))
    source = live(topics, topic, startingOffsets="earliest")
    conf = {
        "spark.plugins": "splice.spark.MetricsPlugin",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
    }
    arguments = json.dumps(source.options()), json.dumps(conf), str(tmp_path)
    output = run([sys.executable], "show_metrics", *arguments)
    figures = {
        line.split(" ", 1)[0]: json.loads(line.split(" ", 1)[1])
        for line in output.splitlines()
        if line.startswith(("RUNNING ", "STOPPED "))
    }
    assert figures["RUNNING"]["0.rowsBehind"] == 0
    assert figures["RUNNING"][f"0.topics.{topic}.partitions"] == 3
    assert figures["STOPPED"] == {}
