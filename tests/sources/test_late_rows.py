# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Late rows of Spark's stateful operators while a query reads a backlog.

Only a query of Spark shows which rows its operators drop.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from conftest import MakeTopic
from orders import HISTORY_SELECT, LIVE_SELECT, archive, history, live, orders
from pages.page import Page
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import HandOver, HybridSource, describe

_HOUR = 3600 * 1000
_EACH, _PARTITIONS = 300, 4
_LIMIT = str(_EACH * _PARTITIONS // 6)

PAGE = Page("docs/late-rows.md")


@pytest.fixture
def backlog(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic whose partitions have equal numbers of records of 24 hours and of 6 hours."""
    topic = make_topic(_PARTITIONS)
    end = int(time.time() * 1000) - 60_000
    topics.produce(
        topic,
        (
            Record(
                f"{partition}-{i}",
                f"{partition}-{i}",
                partition,
                end - hours * _HOUR * (_EACH - i) // _EACH,
            )
            for partition, hours in enumerate([24, 24, 6, 6])
            for i in range(_EACH)
        ),
    )
    return topic


def _stream(spark: SparkSession, topics: KafkaTopics, topic: str, admission: str) -> DataFrame:
    return live(
        topics,
        topic,
        startingOffsets="earliest",
        admission=admission,
        maxOffsetsPerTrigger=_LIMIT,
    ).read_stream(spark)


def _run(rows: DataFrame, folder: Path, mode: str, write: Callable[[DataFrame, int], None]) -> Any:
    """Run a query with AvailableNow, and return its progress."""
    writer = rows.writeStream.outputMode(mode).foreachBatch(write).trigger(availableNow=True)
    query: StreamingQuery = writer.option("checkpointLocation", str(folder)).start()
    wait_for("the query to end", lambda: query.awaitTermination(1))
    return query.recentProgress


def _dropped(progress: Any) -> int:
    return sum(
        one["numRowsDroppedByWatermark"] for each in progress for one in each["stateOperators"]
    )


def _delay(progress: Any) -> int:
    return int(progress[-1]["sources"][0]["metrics"]["delayNeededMs"])


def test_windows(spark: SparkSession, topics: KafkaTopics, backlog: str, tmp_path: Path) -> None:
    counts: dict[str, dict[Any, int]] = {"lag": {}, "eventTime": {}}
    progress = {}
    for admission, found in counts.items():

        def write(rows: DataFrame, _: int, found: dict[Any, int] = found) -> None:
            found.update({row["window"]: row["count"] for row in rows.collect()})

        stream = _stream(spark, topics, backlog, admission).withWatermark("timestamp", "1 second")
        windows = stream.groupBy(f.window("timestamp", "10 minutes")).count()
        progress[admission] = _run(windows, tmp_path / admission, "update", write)
    assert _dropped(progress["lag"]) > 0
    assert sum(counts["lag"].values()) < _EACH * _PARTITIONS
    assert _dropped(progress["eventTime"]) == 0
    assert sum(counts["eventTime"].values()) == _EACH * _PARTITIONS
    assert _delay(progress["eventTime"]) == 0


def test_deduplication(
    spark: SparkSession, topics: KafkaTopics, backlog: str, tmp_path: Path
) -> None:
    keys: list[str] = []

    def write(rows: DataFrame, _: int) -> None:
        keys.extend(row["key"].decode() for row in rows.select("key").collect())

    (program,) = PAGE.blocks("python")
    shown = {
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{backlog}"',
        "1_000_000": _LIMIT,
        "10 minutes": "1 second",
    }
    stream = PAGE.run(program, shown, {"spark": spark})["orders"]
    progress = _run(
        stream.dropDuplicatesWithinWatermark(["key"]), tmp_path / "unique", "append", write
    )
    PAGE.assert_all_executed()
    assert _dropped(progress) == 0
    assert len(keys) == len(set(keys)) == _EACH * _PARTITIONS


def test_a_join_of_two_streams(
    spark: SparkSession, topics: KafkaTopics, backlog: str, tmp_path: Path
) -> None:
    keys: list[str] = []

    def write(rows: DataFrame, _: int) -> None:
        keys.extend(row["key"].decode() for row in rows.select("key").collect())

    def side(name: str) -> DataFrame:
        stream = _stream(spark, topics, backlog, "eventTime")
        return stream.select("key", f.col("timestamp").alias(name)).withWatermark(name, "1 second")

    joined = side("here").join(side("there"), "key")
    rows = joined.where("here >= there - interval 1 minute and here <= there + interval 1 minute")
    progress = _run(rows, tmp_path / "joined", "append", write)
    assert _dropped(progress) == 0
    assert sorted(keys) == sorted(f"{p}-{i}" for p in range(_PARTITIONS) for i in range(_EACH))


def test_the_switch_to_a_log_shows_the_delay_that_it_needs(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic = make_topic(2)
    topics.produce(topic, orders(range(100), 2))
    archive(topics, topic, tmp_path / "archive", {0: 40, 1: 40})
    source = (
        HybridSource.builder("history", history(tmp_path / "archive"), select=HISTORY_SELECT)
        .add_source(
            "live",
            live(topics, topic),
            hand_over=HandOver.event_time("event_time", overlap="10s"),
            select=LIVE_SELECT,
        )
        .build()
    )
    writer = source.read_stream(spark).writeStream.format("noop").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    wait_for("the query to end", lambda: query.awaitTermination(1))
    # The newest row of the archive is order 79, and the log is read from order 69 on.
    (switch,) = describe(query).hand_overs
    assert switch.delay_needed == timedelta(seconds=10, milliseconds=1)
    assert "watermark delay: 10 s" in switch.title()
    assert _delay(query.recentProgress) == 10_001


def test_files_in_the_order_of_their_event_times(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    # The file of the hours 2 to 3 is before the file of the hours 1 to 5.
    for number, (first, last) in enumerate([(0, 2), (10, 12), (1, 5), (4, 9), (9, 11), (2, 3)]):
        hours = [first + (last - first) * i / 99 for i in range(100)]
        start = datetime(2026, 5, 1, tzinfo=timezone.utc)
        rows = {
            "key": [f"{number}-{i}" for i in range(100)],
            "at": [start + timedelta(hours=hour) for hour in hours],
        }
        file = folder / f"{number}.parquet"
        pq.write_table(pa.table(rows), file)
        os.utime(file, (number + 1, number + 1))

    def read_all(rows: DataFrame, _: int) -> None:
        rows.collect()

    def dropped(order: str, delay: int) -> int:
        source = history(folder, orderBy=order, maxFilesPerTrigger="1")
        stream = source.read_stream(spark).withWatermark("at", f"{delay} milliseconds")
        unique = stream.dropDuplicatesWithinWatermark(["key"])
        return _dropped(_run(unique, tmp_path / f"{order[:4]}-{delay}", "append", read_all))

    by_time = history(folder, orderBy="eventTime:at")
    (warning,) = by_time.plan(spark).warnings
    shown = re.search(r"at least (\d+) ms", warning)
    assert shown
    assert int(shown[1]) == 2 * _HOUR + 1
    assert dropped("modificationTime", int(shown[1])) > 0
    assert dropped("eventTime:at", int(shown[1])) == 0
    assert dropped("eventTime:at", 1) > 0
