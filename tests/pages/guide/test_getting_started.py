# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the page to get started, in Python and in SQL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from orders import assert_each_once, ids
from pages.page import Page
from servers.kafka.topics import KafkaTopics
from streams import drain, written

PAGE = Page("docs/getting-started.md")


def test_each_program(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    shown = {
        "/lake/orders/": str(history_path),
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
    }
    session, options, *_ = PAGE.blocks("python")
    names: dict[str, Any] = PAGE.run(session, {'appName("orders")': 'appName("splice-tests")'}, {})
    assert names["spark"] == spark
    assert PAGE.run(options, shown, names)["df"].isStreaming

    stream = PAGE.run(PAGE.section("options"), shown, names)["df"]
    drain(stream, tmp_path / "options")
    assert_each_once(ids(written(spark, tmp_path / "options")), range(60))

    statements = re.sub(r"--.*", "", PAGE.replaced(PAGE.section("sql"), in_sql(shown))).split(";")
    try:
        _, count, stream = [spark.sql(text) for text in statements if text.strip()]
        assert count.collect()[0][0] == 60
        drain(stream, tmp_path / "sql")
    finally:
        spark.sql("DROP TABLE IF EXISTS orders")
    assert_each_once(ids(written(spark, tmp_path / "sql")), range(60))
    PAGE.assert_all_executed()


def in_sql(shown: dict[str, str]) -> dict[str, str]:
    """Return addresses and paths, with the quotes of SQL."""
    return {name.replace('"', "'"): real.replace('"', "'") for name, real in shown.items()}
