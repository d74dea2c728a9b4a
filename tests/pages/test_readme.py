# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the README, with other addresses and paths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orders import archive, assert_each_once, ids, orders
from pages.page import Page
from servers.kafka.topics import KafkaTopics
from streams import drain, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conftest import MakeTopic

PAGE = Page("README.md")
ORDERS = range(90)


def test_each_program(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(spark, topics, topic, history_path, {0: 10, 1: 20, 2: 30})
    shown = {
        "/lake/orders/": str(history_path),
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        "'orders'": f"'{topic}'",
    }
    builders, options = PAGE.blocks("python")
    names: dict[str, Any] = PAGE.run(builders, shown, {})
    drain(names["df"], tmp_path / "builders")
    assert_each_once(ids(written(spark, tmp_path / "builders")), ORDERS)
    assert_each_once(ids(names["orders"].read()), ORDERS)
    drain(PAGE.run(options, shown, {"spark": spark})["df"], tmp_path / "options")
    assert_each_once(ids(written(spark, tmp_path / "options")), ORDERS)

    (sql,) = PAGE.blocks("sql")
    statements = re.sub(r"--.*", "", PAGE.replaced(sql, shown)).split(";")
    try:
        _, count, stream = [spark.sql(text) for text in statements if text.strip()]
        assert count.collect()[0][0] == len(ORDERS)
        drain(stream, tmp_path / "sql")
    finally:
        spark.sql("DROP TABLE IF EXISTS orders")
    assert_each_once(ids(written(spark, tmp_path / "sql")), ORDERS)
    PAGE.assert_all_executed()
