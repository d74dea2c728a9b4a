# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Spark's real-time mode and continuous mode from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from conftest import MakeTopic
from demo.checkpoint import Checkpoint
from orders import assert_each_once, live, order_id, orders
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from triggers import set_trigger

SHORTEST = "spark.sql.streaming.realTimeMode.minBatchDuration"


@pytest.fixture(autouse=True)
def short_batches(spark: SparkSession) -> Iterator[None]:
    """Permit batches with a duration of one second."""
    spark.conf.set(SHORTEST, "1000")
    yield
    spark.conf.unset(SHORTEST)


def _append_to(file: Path) -> Callable[[Row], None]:
    """Return a function that appends the key of a row to a file."""

    # Python workers cannot import this module, and a nested function needs no import.
    def append(row: Row) -> None:
        with file.open("a") as out:
            out.write(f"{row['id']}\n")

    return append


def _start(
    spark: SparkSession,
    topics: KafkaTopics,
    topic: str,
    folder: Path,
    trigger: dict[str, Any],
    **options: str,
) -> StreamingQuery:
    stream = (
        live(topics, topic, startingOffsets="earliest")
        .read_stream(spark)
        .selectExpr("cast(key as string) as id")
    )
    writer = (
        stream.writeStream.foreach(_append_to(folder / "seen"))
        .outputMode("update")
        .options(**options)
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    return set_trigger(spark, writer, trigger).start()


def _last_batch(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return progress["batchId"] if progress else -1


def _tasks(spark: SparkSession) -> list[str]:
    """Return the threads of the JVM that run a task."""
    jvm: Any = spark._jvm
    threads = jvm.java.lang.Thread.getAllStackTraces().keySet()
    named = ((thread.getName(), thread) for thread in threads)
    # An idle thread keeps the name of its last task.
    return [
        name
        for name, thread in named
        if name.startswith("Executor task launch")
        and any("TaskRunner" in frame.getClassName() for frame in thread.getStackTrace())
    ]


def _seen(folder: Path) -> list[str]:
    file = folder / "seen"
    return file.read_text().splitlines() if file.exists() else []


# Spark 4.3 writes offsets and commits of this mode on a separate thread by default.
@pytest.mark.parametrize(
    "options",
    [{}] + [{"asyncProgressTrackingEnabled": "false"}] * pyspark.__version__.startswith("4.3."),
)
def test_orders_arrive_while_a_batch_lasts_and_the_trigger_may_change(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    options: dict[str, str],
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(range(60), 3))
    query = _start(spark, topics, topic, tmp_path, {"realTime": "2 seconds"}, **options)
    try:
        wait_for("60 orders", lambda: len(_seen(tmp_path)) >= 60)
        topics.produce(topic, orders(range(60, 100), 3))
        wait_for("100 orders", lambda: len(_seen(tmp_path)) >= 100)
        batch = _last_batch(query)
        # The batch after the next batch begins after all orders.
        wait_for("the next batch", lambda: _last_batch(query) > batch + 1)
    finally:
        query.stop()
        # Spark cancels tasks after the stop, and a task that still runs would read new orders.
        wait_for("the end of the tasks", lambda: not _tasks(spark))
    topics.produce(topic, orders(range(100, 120), 3))
    _start(spark, topics, topic, tmp_path, {"availableNow": True}).awaitTermination()
    assert_each_once(_seen(tmp_path), range(120))
    assert order_id(119) in _seen(tmp_path)


def test_a_continuous_query_commits_new_orders_and_a_restart_resumes(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    topic, checkpoint = make_topic(), Checkpoint(tmp_path / "checkpoint")
    for start, end in ((0, 60), (60, 100)):
        topics.produce(topic, orders(range(start, end), 3))
        # Spark opens a writer of Python's foreach for one epoch only.
        query = (
            live(topics, topic, startingOffsets="earliest")
            .read_stream(spark)
            .writeStream.format("noop")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(continuous="1 second")
            .start()
        )
        try:
            wait_for(f"{end} orders", partial(checkpoint.has_committed, end))
        finally:
            query.stop()


def test_a_limit_of_batches_is_rejected_by_name(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    stream = live(topics, make_topic(), maxOffsetsPerTrigger="10").read_stream(spark)
    writer = (
        stream.writeStream.format("console")
        .outputMode("update")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
    )
    query = set_trigger(spark, writer, {"realTime": "5 minutes"}).start()
    with pytest.raises(
        StreamingQueryException, match=r"SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED.*maxOffsetsPerTrigger"
    ):
        query.awaitTermination()
