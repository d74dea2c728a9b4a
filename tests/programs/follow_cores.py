# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads a topic while the cluster gets an executor, and prints the numbers of slots.

Arguments: the master of two workers of two cores each, the topic's servers, the topic, then the
folder to work in.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orders import live, orders
from servers.kafka_topics import KafkaTopics
from servers.waiting import wait_for
from sessions import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_PARTITIONS, _ROWS = 4, 8
_ONE, _BOTH = 2, 4
"""The cores of one executor, and of both."""


def main(master: str, servers: str, topic: str, folder: Path) -> None:
    """Runs the query."""
    conf = {
        "spark.master": master,
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }
    spark = session(folder, conf)
    wait_for("both executors", lambda: _cores(spark) == _BOTH)
    context = spark.sparkContext._jsc.sc()
    assert context.killExecutor("0")
    wait_for("one executor", lambda: _cores(spark) == _ONE)
    topics = KafkaTopics(servers)
    source = live(topics, topic, startingOffsets="earliest")
    query = (
        source.read_stream(spark)
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    batches = _batches(query, topics, topic)
    numbers = [next(batches)]
    # Spark counts executors from 0 that were not requested, so this is the total.
    assert context.requestExecutors(2)
    wait_for("the other executor", lambda: _cores(spark) == _BOTH)
    numbers.append(next(batches))
    wait_for("more slots", lambda: next(batches) == _BOTH, 150)
    numbers.append(next(batches))
    query.stop()
    print("SLOTS", json.dumps(numbers))
    spark.stop()


def _batches(query: StreamingQuery, topics: KafkaTopics, topic: str):  # type: ignore[no-untyped-def]
    """Lets the query read some rows each time, and yields the number of slots after them."""
    for turn in itertools.count(1):
        topics.produce(topic, orders(range((turn - 1) * _ROWS, turn * _ROWS), _PARTITIONS))
        query.processAllAvailable()
        read = [one for one in query.recentProgress if one["numInputRows"] > 0]
        yield int(read[-1]["sources"][0]["metrics"]["slots"])


def _cores(spark: SparkSession) -> int:
    """Gives the cores of the executors that are registered."""
    return int(spark.sparkContext.defaultParallelism)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
