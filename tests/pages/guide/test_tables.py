# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the page about tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import assert_each_once, ids, order_id
from pages.page import Page
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from streams import drain, written
from tables import formats

PAGE = Page("docs/tables.md")
ARCHIVED, ALL = range(8), range(12)


@pytest.mark.skipif(not formats.HAS_DELTA, reason=formats.WITHOUT_DELTA)
def test_the_first_program(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(1)
    topics.produce(topic, [Record(str(n / 4), order_id(n), 0) for n in ALL])
    rows = [(order_id(n), n / 4, topic, 0, n, f"2026-11-0{n // 3 + 1}") for n in ARCHIVED]
    schema = "order_id STRING, amount DOUBLE, topic STRING, partition INT, offset BIGINT, at STRING"
    writer = spark.newSession()
    for key, value in formats.catalogs(str(tmp_path)).items():
        writer.conf.set(key, value)
    orders = writer.createDataFrame(rows, schema).selectExpr("*", "DATE(at) AS day")
    orders.write.format("delta").save(str(tmp_path / "orders"))
    shown = {
        '"/lake': f'"{tmp_path}',
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
    }
    (program,) = PAGE.blocks("python")
    drain(PAGE.run(program, shown, {"spark": spark})["df"], tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ALL)
    PAGE.assert_all_executed()
