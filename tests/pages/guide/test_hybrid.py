# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the page about the hybrid source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import assert_each_once, ids, order_id
from pages.page import Page
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from splice import FileSource, HybridSource
from streams import drain, written

PAGE = Page("docs/hybrid.md")
ARCHIVED, ALL, LATER = range(8), range(12), range(12, 15)


def write(spark: SparkSession, path: Path, topic: str, columns: tuple[str, str, str]) -> None:
    """Write the archived orders of a topic with one partition."""
    schema = "order_id STRING, amount DOUBLE, {} STRING, {} INT, {} BIGINT".format(*columns)
    rows = [(order_id(n), n / 4, topic, 0, n) for n in ARCHIVED]
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(path))


def test_each_program(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = make_topic(1)
    topics.produce(topic, [Record(str(n / 4), order_id(n), 0) for n in ALL])
    write(spark, tmp_path / "orders", topic, ("topic", "partition", "offset"))
    write(spark, tmp_path / "old", topic, ("t", "p", "o"))
    shown = {
        '"/lake': f'"{tmp_path}',
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
    }
    names: dict[str, Any] = {"spark": spark}
    chain, by_offset, once, other, growing, *by_time, custom, plan, select, alone = PAGE.blocks(
        "python"
    )

    PAGE.run(chain, shown, names)
    drain(names["orders"].read_stream(), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), ALL)
    for block in (by_offset, once, *by_time):
        PAGE.run(block, shown, names)
    assert spark.read.parquet(f"{tmp_path}/orders-once").count() == len(ARCHIVED)
    old = FileSource.builder("parquet", tmp_path / "old").build()
    PAGE.run(other, shown, names | (others := {"old": old, "reference": names["history"]}))
    names |= others
    PAGE.run(other, shown, names)
    found = [row.order_id for row in names["orders"].read().collect()]
    assert sorted(found) == sorted(map(order_id, [*ARCHIVED, *ALL]))
    PAGE.run(growing, shown, names)
    drain(names["orders"].read_stream(), tmp_path / "growing")
    assert_each_once(ids(written(spark, tmp_path / "growing")), ALL)
    rule = PAGE.run(custom, shown, names)["after_the_backfill"]
    evidence = [{"topic": topic, "partition": 0, "until": 8}]
    assert rule({"offsets": evidence}) == {"offsets": {topic: {0: 8}}}
    capsys.readouterr()
    PAGE.run(plan, shown, names)
    assert "handOver=offsets" in capsys.readouterr().out
    PAGE.run(select, shown, names)
    one = HybridSource.builder("live", names["live"], select=names["select"]).build()
    assert one.read(spark).columns == ["order_id", "o", "amount"]

    topics.produce(topic, [Record("1", order_id(n), 0) for n in LATER])
    drain(PAGE.run(alone, shown, names)["orders"].read_stream(), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), [*ALL, *LATER])
    PAGE.assert_all_executed()


def test_the_options_are_the_first_program(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(1)
    topics.produce(topic, [Record(str(n / 4), order_id(n), 0) for n in ALL])
    write(spark, tmp_path / "orders", topic, ("topic", "partition", "offset"))
    page, limits = (Page(name).blocks("properties")[0] for name in (PAGE.name, "docs/triggers.md"))
    given = dict(re.split(" += ", line) for line in (page + limits).strip().splitlines() if line)
    given["history.path"] = str(tmp_path / "orders")
    given["live.kafka.bootstrap.servers"] = topics.bootstrap_servers
    given["live.subscribe"] = topic
    rows = spark.read.format("splice").options(**given).load()
    assert_each_once(ids(rows), ALL)
