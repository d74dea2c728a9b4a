# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Read a topic on a cluster whose executors change, and store the metrics of the query.

Arguments: ``lose`` or ``follow``, the master of two workers, the topic's servers, the topic, and
the working folder. The result is JSON in the file ``result.json`` of that folder, because the
output of a program also contains log lines of its JVM.

``lose`` kills one of two executors. Its result has the number of slot moves since the start, for
each batch before and after. ``follow`` starts with one executor and adds the other executor. Its
result has the numbers of slots before the change, right after the change, and after the clock of
the driver has advanced by one minute.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from orders import live, orders
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from sessions import session

_ROWS, _PARTITIONS = 40, 4
_ONE, _BOTH = 2, 4
"""Number of cores of one executor, and of both executors."""

_STABLE = 60 * 10**9
"""Nanoseconds after which another number of cores applies."""


class Batches:
    """Successive batches of a query over an empty topic.

    The first batch of a query does not wait for ``minOffsetsPerTrigger``, so the query starts
    after the rows of this batch were produced.
    """

    def __init__(
        self, start: Callable[[], StreamingQuery], topics: KafkaTopics, topic: str
    ) -> None:
        """Create an instance with a function that starts the query."""
        self._start, self._topics, self._topic, self._rows = start, topics, topic, 0
        self._query: StreamingQuery | None = None

    def metric(self, name: str) -> int:
        """Produce rows for a batch, and return a metric of the source for this batch."""
        first, self._rows = self._rows, self._rows + _ROWS
        self._topics.produce(self._topic, orders(range(first, self._rows), _PARTITIONS))
        query = self._query = self._query or self._start()
        wait_for(f"{self._rows} rows", lambda: self._read(query))
        last = [one for one in query.recentProgress if one["numInputRows"] > 0][-1]
        return int(last["sources"][0]["metrics"][name])

    def _read(self, query: StreamingQuery) -> bool:
        failure = query.exception()
        if failure:
            raise failure
        return sum(int(one["numInputRows"]) for one in query.recentProgress) >= self._rows


def main(change: str, master: str, servers: str, topic: str, folder: Path) -> None:
    """Run the query."""
    conf = {
        "spark.master": master,
        "spark.executor.memory": "512m",
        "spark.sql.streaming.numRecentProgressUpdates": "10000",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }
    spark = session(folder, conf)
    topics = KafkaTopics(servers)

    def start(**options: str) -> Batches:
        writer = (
            live(topics, topic, startingOffsets="earliest", **options)
            .read_stream(spark)
            .writeStream.format("noop")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(processingTime="100 milliseconds")
        )
        return Batches(writer.start, topics, topic)

    result = {"lose": _lose, "follow": _follow}[change](spark, start)
    (folder / "result.json").write_text(json.dumps(result))
    for query in spark.streams.active:
        query.stop()
    spark.stop()


def _lose(spark: SparkSession, start: Callable[..., Batches]) -> dict[str, list[int]]:
    wait_for("both executors", lambda: _both(spark))
    # Each batch has rows of all partitions, so both slots have a task in each batch.
    batches = start(slots="2", minOffsetsPerTrigger=str(_ROWS))
    before = [batches.metric("slotMovesTotal") for _ in range(4)]
    there = wait_for("both executors", lambda: _both(spark))
    _kill_executor(spark)
    wait_for("another executor", lambda: len((_both(spark) or there) - there) == 1)
    after = [batches.metric("slotMovesTotal") for _ in range(4)]
    return {"before": before, "after": after}


def _follow(spark: SparkSession, start: Callable[..., Batches]) -> list[int]:
    wait_for("both executors", lambda: _cores(spark) == _BOTH)
    context = spark.sparkContext._jsc.sc()
    assert context.killExecutor("0")
    wait_for("one executor", lambda: _cores(spark) == _ONE)
    batches = start()
    slots = [batches.metric("slots")]
    # Spark counts unrequested executors from 0, so this number is the total.
    assert context.requestExecutors(2)
    wait_for("the other executor", lambda: _cores(spark) == _BOTH)
    slots.append(batches.metric("slots"))
    jvm: Any = spark._jvm
    jvm.splice.source.internal.SteadyClock.advance(_STABLE)
    slots.append(batches.metric("slots"))
    return slots


def _cores(spark: SparkSession) -> int:
    """Return the number of cores of the registered executors."""
    return int(spark.sparkContext.defaultParallelism)


def _both(spark: SparkSession) -> set[int] | None:
    """Return the executors of two tasks, each as the process that starts its Python workers.

    The result is None if both tasks ran on one executor, because the other executor is not
    registered yet or accepted no task in time.
    """

    def where(_: int) -> int:
        time.sleep(0.3)
        return os.getppid()

    found = set(spark.sparkContext.parallelize(range(2), 2).map(where).collect())
    return found if len(found) == 2 else None


def _kill_executor(spark: SparkSession) -> None:
    """Kill one of the executors."""
    argument = f"--app-id\0{spark.sparkContext.applicationId}\0".encode()
    executors = [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if b"CoarseGrainedExecutorBackend" in (command := _command(process) + b"\0")
        and argument in command
    ]
    assert len(executors) == 2, executors
    os.kill(executors[0], signal.SIGKILL)


def _command(process: Path) -> bytes:
    """Return the command line of a process, empty for a process that has ended."""
    try:
        return (process / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


if __name__ == "__main__":
    _change, _master, _servers, _topic, _folder = sys.argv[1:]
    main(_change, _master, _servers, _topic, Path(_folder))
