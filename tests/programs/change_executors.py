# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads a topic on a cluster whose executors change, and stores what the query did.

Arguments: ``lose`` or ``follow``, the master of two workers, the topic's servers, the topic, then
the folder to work in. The result is JSON in the file ``result.json`` of that folder, because the
output of a program also holds what its JVM logs, at any place of a line.

``lose`` kills one of two executors. Its result has, for each batch before and after, how many slots
have moved since the start. ``follow`` starts with one executor and adds the other one. Its result
is the numbers of slots before, right after, and once they have followed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from orders import live, orders
from servers.kafka_topics import KafkaTopics
from servers.waiting import wait_for
from sessions import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_ROWS, _PARTITIONS = 40, 4
_ONE, _BOTH = 2, 4
"""The cores of one executor, and of both, where each has two."""


class Batches:
    """Batches of a query over an empty topic, one after the other."""

    def __init__(self, query: StreamingQuery, topics: KafkaTopics, topic: str) -> None:
        """Takes the query; no row has been produced yet."""
        self._query, self._topics, self._topic, self._rows = query, topics, topic, 0

    def metric(self, name: str) -> int:
        """Lets the query read some rows, and gives the source's metric of the last batch."""
        first, self._rows = self._rows, self._rows + _ROWS
        self._topics.produce(self._topic, orders(range(first, self._rows), _PARTITIONS))
        wait_for(f"{self._rows} rows", self._read)
        last = [one for one in self._query.recentProgress if one["numInputRows"] > 0][-1]
        return int(last["sources"][0]["metrics"][name])

    def _read(self) -> bool:
        failure = self._query.exception()
        if failure:
            raise failure
        return sum(int(one["numInputRows"]) for one in self._query.recentProgress) >= self._rows


def main(change: str, master: str, servers: str, topic: str, folder: Path) -> None:
    """Runs the query."""
    conf = {
        "spark.master": master,
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }
    spark = session(folder, conf)
    topics = KafkaTopics(servers)

    def start(**options: str) -> Batches:
        query = (
            live(topics, topic, startingOffsets="earliest", **options)
            .read_stream(spark)
            .writeStream.format("noop")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(processingTime="100 milliseconds")
            .start()
        )
        return Batches(query, topics, topic)

    result = {"lose": _lose, "follow": _follow}[change](spark, start)
    (folder / "result.json").write_text(json.dumps(result))
    for query in spark.streams.active:
        query.stop()
    spark.stop()


def _lose(spark: SparkSession, start: Callable[..., Batches]) -> dict[str, list[int]]:
    wait_for("two executors", lambda: len(_executors(spark)) == 2)
    batches = start(slots="2")
    before = [batches.metric("slotMoves") for _ in range(4)]
    there = _executors(spark)
    _kill_executor(spark)
    wait_for("another executor", lambda: len(_executors(spark) - there) == 1)
    after = [batches.metric("slotMoves") for _ in range(4)]
    return {"before": before, "after": after}


def _follow(spark: SparkSession, start: Callable[..., Batches]) -> list[int]:
    wait_for("both executors", lambda: _cores(spark) == _BOTH)
    context = spark.sparkContext._jsc.sc()
    assert context.killExecutor("0")
    wait_for("one executor", lambda: _cores(spark) == _ONE)
    batches = start()
    slots = [batches.metric("slots")]
    # Spark counts executors from 0 that were not requested, so this is the total.
    assert context.requestExecutors(2)
    wait_for("the other executor", lambda: _cores(spark) == _BOTH)
    slots.append(batches.metric("slots"))
    wait_for("more slots", lambda: batches.metric("slots") == _BOTH, 150)
    slots.append(batches.metric("slots"))
    return slots


def _cores(spark: SparkSession) -> int:
    """Gives the cores of the executors that are registered."""
    return int(spark.sparkContext.defaultParallelism)


def _executors(spark: SparkSession) -> set[int]:
    """Gives the executors that take tasks, each by the process that starts its Python workers."""

    def where(_: int) -> int:
        time.sleep(0.3)
        return os.getppid()

    return set(spark.sparkContext.parallelize(range(2), 2).map(where).collect())


def _kill_executor(spark: SparkSession) -> None:
    """Kills one of the executors."""
    own = f"--app-id\0{spark.sparkContext.applicationId}\0".encode()
    executors = [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if b"CoarseGrainedExecutorBackend" in (command := _command(process) + b"\0")
        and own in command
    ]
    assert len(executors) == 2, executors
    os.kill(executors[0], signal.SIGKILL)


def _command(process: Path) -> bytes:
    """Gives a process's command line, empty for a process that has ended since the listing."""
    try:
        return (process / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


if __name__ == "__main__":
    _change, _master, _servers, _topic, _folder = sys.argv[1:]
    main(_change, _master, _servers, _topic, Path(_folder))
