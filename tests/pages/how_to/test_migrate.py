# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the migration from Spark's Kafka source, its rehearsal and the way back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import assert_each_once, ids, orders
from pages.page import Page
from servers.kafka import spark_jars
from servers.kafka.topics import KafkaTopics

PAGE = Page("docs/how-to/migrate.md")


@pytest.mark.skipif(not spark_jars.FIT, reason=spark_jars.WHY)
def test_each_program(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = make_topic(2)
    shown = {
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        '"/lake': f'"{tmp_path}/lake',
        '"/checkpoints': f'"{tmp_path}/checkpoints',
    }
    names: dict[str, Any] = {}
    with_spark, rehearsal, with_splice, back = PAGE.blocks("python")

    def written() -> list[str]:
        return ids(spark.read.parquet(f"{tmp_path}/lake/orders"))

    topics.produce(topic, orders(range(10), 2))
    PAGE.run(with_spark, shown, names)["query"].awaitTermination()
    assert_each_once(written(), range(10))

    topics.produce(topic, orders(range(10, 16), 2))
    capsys.readouterr()
    PAGE.run(rehearsal, shown, names)
    assert re.findall(r"^(\S+) (\d+)", capsys.readouterr().out, re.MULTILINE) == [
        ("splice-kafka", "6"),
        ("kafka", "0"),
    ]
    assert_each_once(written(), range(10))

    PAGE.run(with_splice, shown, names)
    assert "rows behind" in capsys.readouterr().out
    assert_each_once(written(), range(16))
    topics.produce(topic, orders(range(16, 20), 2))
    PAGE.run(back, shown, names)
    assert_each_once(written(), range(20))
    PAGE.assert_all_executed()
