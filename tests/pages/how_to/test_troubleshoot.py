# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the page about symptoms, and compare its errors with the tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from driver_log import DriverLog
from orders import orders
from pages.page import ROOT, Page
from servers.kafka.topics import KafkaTopics
from servers.network.fault_proxy import FaultProxy
from servers.ports import free_ports
from splice import KafkaSource, SourceError

PAGE = Page("docs/how-to/troubleshoot.md")


def test_each_program(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = make_topic(2)
    topics.produce(topic, orders(range(10), 2))
    shown = {
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        '"/checkpoints': f'"{tmp_path}/checkpoints',
    }
    names: dict[str, Any] = {}
    rows = r"^- +kafka +- +- +{} "
    builder, latest, earliest = PAGE.blocks("python")
    PAGE.run(builder, shown, names)
    capsys.readouterr()
    PAGE.run(latest, shown, names)
    assert re.search(rows.format(0), capsys.readouterr().out, re.MULTILINE)
    PAGE.run(earliest, shown, names)
    assert re.search(rows.format(10), capsys.readouterr().out, re.MULTILINE)
    assert sum(batch["numInputRows"] for batch in names["query"].recentProgress) == 10
    PAGE.assert_all_executed()


def test_a_missing_data_source_has_the_text_of_the_page(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="Failed to find") as raised:
        spark.readStream.format("splice-missing").load()
    text = re.findall(r"\[DATA_SOURCE_NOT_FOUND\].*(?=splice-missing)", str(raised.value))[0]
    assert f"`{text}splice`" in PAGE.path.read_text("utf-8")


def test_an_advertised_address_that_the_driver_cannot_reach(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, broker = make_topic(1), int(topics.bootstrap_servers.rsplit(":", 1)[1])
    reachable, unreachable = free_ports(2)
    with FaultProxy(reachable, broker) as proxy, DriverLog(spark, tmp_path) as log:
        proxy.advertise(unreachable)
        builder = KafkaSource.builder().bootstrap_servers(f"127.0.0.1:{reachable}").topics(topic)
        source = builder.option("kafka.default.api.timeout.ms", 3000).build()
        with pytest.raises(SourceError, match=rf"BROKERS_UNAVAILABLE.*{reachable}"):
            source.plan(spark)
        assert log.has(rf"Connection to node .*:{unreachable}\) could not be established")


def test_a_start_by_time_after_the_last_record(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic
) -> None:
    topic = make_topic(1)
    topics.produce(topic, orders(range(2), 1))
    builder = KafkaSource.builder().bootstrap_servers(topics.bootstrap_servers).topics(topic)
    source = builder.option("startingTimestamp", 4_102_444_800_000).build()
    with pytest.raises(Exception, match=r"SPLICE_KAFKA_OPTION\.NO_RECORD_AT_TIME"):
        source.plan(spark)


def test_a_test_expects_each_error_of_the_page() -> None:
    conditions = set(re.findall(r"SPLICE_\w+\.\w+", PAGE.path.read_text("utf-8")))
    assert len(conditions) > 15
    reference = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    assert not {each for each in conditions if f"### {each}\n" not in reference}
    folders = ("tests", "python/tests", "jvm")
    files = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".scala")
        and re.search(r"(^|/)(test_|tests/|src/test/)", str(path))
    ]
    text = "".join(path.read_text("utf-8") for path in files)
    assert not {each for each in conditions if not re.search(rf"\b{each.split('.')[1]}\b", text)}
