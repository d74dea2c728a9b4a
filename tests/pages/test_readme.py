# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the README, with other addresses and paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orders import archive, assert_each_once, ids, orders
from servers.kafka.topics import KafkaTopics
from streams import drain, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conftest import MakeTopic

README = Path(__file__).resolve().parents[2] / "README.md"
ORDERS = range(90)

Snippet = Callable[[str], str]


@pytest.fixture
def snippet(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, history_path: Path
) -> Snippet:
    """Return the code of a section, with an existing archive and topic."""
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(spark, topics, topic, history_path, {0: 10, 1: 20, 2: 30})
    places = {
        "/lake/orders/": str(history_path),
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        "'orders'": f"'{topic}'",
    }

    def of(section: str) -> str:
        code: str
        pattern = rf"\[start:{section}\] -->\n```\w+\n(.*?)```\n"
        (code,) = re.findall(pattern, README.read_text("utf-8"), re.DOTALL)
        for shown, real in places.items():
            code = code.replace(shown, real)
        return code

    return of


def _run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, README.name, "exec"), names)
    return names


def test_python(spark: SparkSession, snippet: Snippet, tmp_path: Path) -> None:
    names = _run(snippet("python"))
    drain(names["df"], tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    assert_each_once(ids(names["orders"].read()), ORDERS)


def test_options(spark: SparkSession, snippet: Snippet, tmp_path: Path) -> None:
    names = _run(snippet("options"), spark=spark)
    drain(names["df"], tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)


def test_sql(spark: SparkSession, snippet: Snippet, tmp_path: Path) -> None:
    statements = re.sub(r"--.*", "", snippet("sql")).split(";")
    try:
        _, count, stream = [spark.sql(text) for text in statements if text.strip()]
        assert count.collect()[0][0] == len(ORDERS)
        drain(stream, tmp_path)
    finally:
        spark.sql("DROP TABLE IF EXISTS orders")
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
