# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the pages about files, Kafka, metrics, security and low latency."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import FIRST_EVENT, order_id, orders
from pages.page import Page
from servers.kafka import spark_jars
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import DynamicKafkaSource
from streams import drain, written

FILES = Page("docs/files.md")
KAFKA = Page("docs/kafka.md")
METRICS = Page("docs/metrics.md")
SECURITY = Page("docs/security.md")
LATENCY = Page("docs/low-latency.md")


def test_files(spark: SparkSession, tmp_path: Path) -> None:
    def write(name: str, order: str) -> None:
        schema = "order_id STRING, amount DOUBLE, event_time TIMESTAMP"
        frame = spark.createDataFrame([(order, 1.0, None)], schema).coalesce(1)
        frame.write.mode("append").parquet(f"{tmp_path}/{name}")

    for folder in ("2025", "2026-01"):
        write(f"orders/{folder}", f"of {folder}")
    listed, watched, hourly = FILES.blocks("python")
    shown = {"/lake": str(tmp_path), "/checkpoints": f"{tmp_path}/checkpoints"}
    names = FILES.run(listed, shown, {})
    drain(names["df"], tmp_path)
    found = {row.order_id for row in written(spark, tmp_path).collect()}
    assert found == {"of 2025", "of 2026-01"}

    write("arriving", "first")
    FILES.run(watched, shown, names)
    for orders_so_far in (["first"], ["first", "second"]):
        FILES.run(hourly, shown, names)
        result = spark.read.parquet(f"{tmp_path}/result")
        assert sorted(row.order_id for row in result.collect()) == orders_so_far
        write("arriving", "second")
    FILES.assert_all_executed()


def test_kafka_and_metrics(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic, returns = make_topic(2), make_topic(1)
    topics.produce(topic, orders(range(10), 2))
    topics.produce(returns, [Record("older", "k", 0, FIRST_EVENT - 1000), *orders([10], 1)])
    shown = {
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        '"returns"': f'"{returns}"',
    }
    names: dict[str, Any] = {}
    plain, values, secured = KAFKA.blocks("python")
    query = drain(KAFKA.run(plain, shown, names)["df"], tmp_path)
    assert written(spark, tmp_path).count() == 11
    (described,) = METRICS.blocks("python")
    capsys.readouterr()
    METRICS.run(described, {}, {"query": query})
    assert re.search(r"topic +partitions +rows behind", capsys.readouterr().out)

    stream, parsed = KAFKA.run(values, shown, names)["good"], tmp_path / "parsed"
    drain(stream, parsed)
    good = '{"order_id": "a", "amount": 1.5, "at": "01.11.2026 12:00:00"}'
    topics.produce(topic, [Record(good, "a", 0), Record("{", "b", 0)])
    drain(stream, parsed)
    (row,) = written(spark, parsed).collect()
    assert (row.order_id, row.amount, row["at"].month) == ("a", 1.5, 11)
    secret = KAFKA.run(secured, shown, names)["orders"].options()
    assert secret["kafka.sasl.jaas.config"].endswith('properties:password}";')
    KAFKA.assert_all_executed()
    METRICS.assert_all_executed()


def test_security() -> None:
    (program,) = SECURITY.blocks("python")
    source = SECURITY.run(program, {}, {})["source"]
    assert isinstance(source, DynamicKafkaSource)
    assert source.options()["metadata.url"] == "https://streams.example/orders"
    SECURITY.assert_all_executed()


@pytest.mark.skipif(not spark_jars.FIT, reason=spark_jars.WHY)
def test_low_latency(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, copies = make_topic(1), make_topic(1)
    shown = {
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        '"copies"': f'"{copies}"',
    }
    names: dict[str, Any] = {}
    for number, program in enumerate(LATENCY.blocks("python")):
        folder = {"/checkpoints": f"{tmp_path}/{number}"}
        query = LATENCY.run(program, shown | folder, names)["query"]

        def copied(number: int = number) -> bool:
            # The query begins at the latest record, so records before its start are not read.
            topics.produce(topic, [Record("v", order_id(number), 0)])
            keys = {(record.key() or b"").decode() for record in topics.records(copies)}
            return order_id(number) in keys

        try:
            wait_for("a copy of an order", copied)
        finally:
            query.stop()
    LATENCY.assert_all_executed()
