# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the page about archives, over files in the layout of each archiver.

Kafka Connect's own transformation adds the fields of the position. The test writes the files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import FIRST_EVENT, assert_each_once, ids, order_id
from pages.page import Page
from servers.kafka.jars import class_path
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics

PAGE = Page("docs/how-to/kafka-connect-archives.md")
ARCHIVED, ALL = range(12), range(20)
PARTITIONS, FILE_ROWS = 2, 2
Rows = dict[tuple[int, int], list[dict[str, Any]]]
"""Rows of each file, by partition and first offset."""


def files_of_the_sink() -> Rows:
    """Return the archived orders in files of two rows, like a sink with `flush.size` = 2."""
    files: Rows = {}
    for number in ARCHIVED:
        partition, offset = number % PARTITIONS, number // PARTITIONS
        first = offset - offset % FILE_ROWS
        row = {"order_id": order_id(number), "amount": number / 4}
        files.setdefault((partition, first), []).append(row)
    return files


class InsertField:
    """The transformation of Kafka Connect, in the JVM of the session."""

    def __init__(self, spark: SparkSession, properties: Mapping[str, str]) -> None:
        """Load the class and configure it with properties of a connector."""
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._gateway: Any = spark.sparkContext._gateway
        jars = sorted(Path(class_path()).parent.glob("*.jar"))
        urls = [jvm.java.io.File(str(jar)).toURI().toURL() for jar in jars]
        array = self._array(self._jvm.java.net.URL, urls)
        self._loader = self._jvm.java.net.URLClassLoader(array, None)
        prefix = "transforms.position."
        given = {key[len(prefix) :]: v for key, v in properties.items() if key.startswith(prefix)}
        self._transformation = self._new(given.pop("type"))
        self._transformation.configure(self._map(given))

    def value(
        self, topic: str, partition: int, offset: int, row: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the value of a record with the fields of its position."""
        long = self._jvm.java.lang.Long.valueOf(str(offset))
        position = (topic, partition, None, None, None, self._map(row), long)
        record = self._new("org.apache.kafka.connect.sink.SinkRecord", *position)
        return dict(self._transformation.apply(record).value())

    def _new(self, name: str, *arguments: Any) -> Any:
        makers = self._loader.loadClass(name).getConstructors()
        (maker,) = (each for each in makers if each.getParameterCount() == len(arguments))
        return maker.newInstance(self._array(self._jvm.java.lang.Object, arguments))

    def _array(self, kind: Any, items: Sequence[Any]) -> Any:
        array = self._gateway.new_array(kind, len(items))
        for number, item in enumerate(items):
            array[number] = item
        return array

    def _map(self, items: Mapping[str, Any]) -> Any:
        result = self._jvm.java.util.HashMap()
        for key, value in items.items():
            result.put(key, value)
        return result


def write_connect_archives(spark: SparkSession, topic: str, lake: Path) -> None:
    """Write JSON with the fields of the transformation, and Parquet without these fields."""
    (properties,) = PAGE.blocks("properties")
    insert = InsertField(
        spark, dict(line.split("=", 1) for line in properties.strip().splitlines())
    )
    for (partition, first), rows in files_of_the_sink().items():
        name = f"orders/partition={partition}/{topic}+{partition}+{first:010d}"
        text, parquet = lake / f"topics/{name}.json", lake / f"parquet/{name}.snappy.parquet"
        for file in (text, parquet):
            file.parent.mkdir(parents=True, exist_ok=True)
        values = [insert.value(topic, partition, first + n, row) for n, row in enumerate(rows)]
        text.write_text("".join(f"{json.dumps(value)}\n" for value in values))
        pq.write_table(pa.Table.from_pylist(rows), parquet)


def write_firehose_archive(lake: Path) -> None:
    """Write records with a time, in a folder by time."""
    folder = lake / "firehose/2026/01/01/00"
    folder.mkdir(parents=True)
    rows = [row for rows in files_of_the_sink().values() for row in rows]
    at = "2026-01-01T00:00:00Z"
    text = "".join(json.dumps({**row, "at": at}) + "\n" for row in rows)
    (folder / "orders-1-2026-01-01-00-00-05-7f3c").write_text(text)


def test_each_program(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(PARTITIONS)
    values = {n: json.dumps({"order_id": order_id(n), "amount": n / 4}) for n in ALL}
    topics.produce(
        topic,
        # The archived orders are older than the overlap of the hand-over by time.
        [
            Record(v, order_id(n), n % PARTITIONS, FIRST_EVENT + (n - ARCHIVED.stop) * 3_600_000)
            for n, v in values.items()
        ],
    )
    write_connect_archives(spark, topic, tmp_path)
    write_firehose_archive(tmp_path)
    shown = {
        "broker:9092": topics.bootstrap_servers,
        'topics("orders")': f'topics("{topic}")',
        '"/lake': f'"{tmp_path}',
        '"/checkpoints': f'"{tmp_path}/checkpoints',
    }
    names: dict[str, Any] = {}
    first, connect, converted, check, by_spark, two, firehose = PAGE.blocks("python")
    PAGE.run(first, shown, names)

    def read() -> list[str]:
        return ids(names["orders"].read(spark))

    PAGE.run(connect, shown, names)
    assert_each_once(read(), ALL)
    PAGE.run(converted, shown, names)
    PAGE.run(check, shown, names)
    assert_each_once(read(), ALL)
    PAGE.run(by_spark, shown, names)
    PAGE.run(two, shown, names)
    # Each of the two archives has all of its rows, and the plan counts the duplicates.
    assert Counter(ids(spark.read.parquet(f"{tmp_path}/by-spark"))) == Counter(map(order_id, ALL))
    assert "SPLICE_HAND_OVER_DATA.DUPLICATES" in str(names["both"].plan(spark, scan=True))
    PAGE.run(firehose, shown, names)
    assert_each_once(read(), ALL)
    PAGE.assert_all_executed()
