# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the sinks of the page, with a batch that each sink receives twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import assert_each_once, ids, order_id, orders
from pages.page import Page
from servers.kafka import spark_jars
from servers.kafka.topics import KafkaTopics
from streams import drain, written

PAGE = Page("docs/how-to/sinks.md")
FIRST, SECOND = range(10), range(10, 16)


def forget_last_commit(checkpoint: Path) -> None:
    """Remove the newest commit, as if the driver was killed between the sink and the commit."""
    newest = max((checkpoint / "commits").glob("[0-9]*"), key=lambda file: int(file.name))
    newest.unlink()
    (checkpoint / "commits" / f".{newest.name}.crc").unlink(missing_ok=True)


def counted(numbers: Iterable[int]) -> Counter[str]:
    """Return the number of each order."""
    return Counter(map(order_id, numbers))


@pytest.mark.skipif(not spark_jars.FIT, reason=spark_jars.WHY)
def test_each_sink(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, copies = make_topic(2), make_topic(1)
    checkpoints = tmp_path / "checkpoints"
    shown = {
        "broker:9092": topics.bootstrap_servers,
        'topics("orders")': f'topics("{topic}")',
        '"copies"': f'"{copies}"',
        '"/lake': f'"{tmp_path}',
        "jdbc:derby:/lake": f"jdbc:derby:{tmp_path}",
        '"/checkpoints': f'"{checkpoints}',
    }
    stream, files, table, kafka, once, memory = PAGE.blocks("python")
    names: dict[str, Any] = PAGE.run(stream, shown, {})
    starts = {"files": files, "copies": kafka}

    topics.produce(topic, orders(FIRST, 2))
    for block in (files, table, kafka, memory):
        PAGE.run(block, shown, names)
    assert Counter(ids(spark.table("orders_now"))) == counted(FIRST)
    topics.produce(topic, orders(SECOND, 2))
    for name in ("files", "copies", "jdbc"):
        for again in (False, True):
            if again:
                forget_last_commit(checkpoints / name)
            if name == "jdbc":
                names["start"]().awaitTermination()
            else:
                PAGE.run(starts[name], shown, names)
    assert_each_once(ids(spark.read.parquet(f"{tmp_path}/orders")), range(16))
    rows = spark.read.jdbc(f"jdbc:derby:{tmp_path}/orders.db", "orders").collect()
    assert Counter(row.ORDER_ID for row in rows) == counted(range(16))

    keys = Counter((record.key() or b"").decode() for record in topics.records(copies))
    assert keys == counted([*FIRST, *SECOND, *SECOND])
    drain(
        PAGE.run(once, shown, names)["once"].selectExpr("string(key) AS order_id"), tmp_path / "o"
    )
    assert_each_once(ids(written(spark, tmp_path / "o")), range(16))
    PAGE.assert_all_executed()


def test_memory_has_no_restart(
    spark: SparkSession, topics: KafkaTopics, topic: str, tmp_path: Path
) -> None:
    writer = (
        spark.readStream.format("splice-kafka")
        .option("kafka.bootstrap.servers", topics.bootstrap_servers)
        .option("subscribe", topic)
        .load()
        .writeStream.format("memory")
        .queryName("orders_again")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
    )
    writer.start().awaitTermination()
    with pytest.raises(Exception, match="does not support recovering from checkpoint"):
        writer.start()
