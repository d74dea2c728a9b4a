# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command ``splice demo late``: late rows of a backlog, by two policies of ``admission``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from splice import KafkaSource, describe
from splice._internal.progress import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from splice.cli.demo.topic import DemoTopic

HOURS = (24, 24, 6, 6)
"""Hours of the records of each partition."""

EACH = 500
"""Number of records of each partition."""

BATCHES = 10
"""Least number of batches of each query."""

_DELAY = "10 minutes"
_HOUR = 3_600_000


def run(spark: SparkSession, topic: DemoTopic) -> bool:
    """Fill the topic, and count its records in windows with each policy.

    Returns:
        True if the query by ``eventTime`` lost no row.
    """
    end = round(time.time() * 1000) - 60_000
    topic.produce(_records(end))
    hours = ", ".join(map(str, HOURS))
    print(f"{len(HOURS)} partitions with {EACH} records each, of the last {hours} hours.")
    print(f"Each query counts windows of {_DELAY}, and its watermark has a delay of {_DELAY}.\n")
    _counted(spark, topic, "lag")
    return _counted(spark, topic, "eventTime") == EACH * len(HOURS)


def _records(end: int) -> Iterator[tuple[int, int, str, str]]:
    for partition, hours in enumerate(HOURS):
        for number in range(EACH):
            yield partition, end - hours * _HOUR * (EACH - number) // EACH, str(number), ""


def _counted(spark: SparkSession, topic: DemoTopic, admission: Literal["lag", "eventTime"]) -> int:
    """Run a query until it has read the topic, print its result, and return the counted rows."""
    # An import at the top would load Spark for each command.
    from pyspark.sql import functions as f

    source = (
        KafkaSource.builder()
        .bootstrap_servers(topic.servers)
        .topics(topic.name)
        .properties(topic.client)
        .starting_offsets("earliest")
        .admission(admission)
        .option("maxOffsetsPerTrigger", EACH * len(HOURS) // BATCHES)
        .build()
    )
    name = f"demo_{admission}"
    query = (
        source.read_stream(spark)
        .withWatermark("timestamp", _DELAY)
        .groupBy(f.window("timestamp", _DELAY))
        .count()
        .writeStream.queryName(name)
        .format("memory")
        .outputMode("update")
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
        needed = describe(query).sources[0].delay_needed
    finally:
        query.stop()
    # Each update of a window has a greater count.
    last = spark.table(name).groupBy("window").agg(f.max("count").alias("rows")).collect()
    rows = sum(int(window["rows"]) for window in last)
    text = (
        f"admission={admission}: {rows} rows counted, {EACH * len(HOURS) - rows} rows lost as late"
    )
    if needed is not None:
        text += f", delay needed: {units.duration(needed.total_seconds())}"
    print(text)
    return rows
