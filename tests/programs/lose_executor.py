# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads a topic in two slots on two executors, kills one, and says how often slots have moved.

Arguments: the master, the topic's servers, the topic, then the folder to work in.
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
from splice import describe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_ROWS, _PARTITIONS = 40, 4


class Batches:
    """Batches of a query, one after the other."""

    def __init__(self, query: StreamingQuery, topics: KafkaTopics, topic: str) -> None:
        """Takes a query over an empty topic."""
        self._query, self._topics, self._topic, self._rows = query, topics, topic, 0

    def moves(self) -> int:
        """Lets the query read some rows, and gives how many slots have moved since it began."""
        first, self._rows = self._rows, self._rows + _ROWS
        self._topics.produce(self._topic, orders(range(first, self._rows), _PARTITIONS))
        wait_for(f"{self._rows} rows", self._read)
        return int(describe(self._query).sources[0].metrics["slotMoves"])

    def _read(self) -> bool:
        failure = self._query.exception()
        if failure:
            raise failure
        return sum(one["numInputRows"] for one in self._query.recentProgress) >= self._rows


def main(master: str, servers: str, topic: str, folder: Path) -> None:
    """Runs the query."""
    conf = {
        "spark.master": master,
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }
    spark = session(folder, conf)
    wait_for("two executors", lambda: len(_executors(spark)) == 2)
    topics = KafkaTopics(servers)
    source = live(topics, topic, startingOffsets="earliest", slots="2")
    query = (
        source.read_stream(spark)
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    batches = Batches(query, topics, topic)
    before = [batches.moves() for _ in range(4)]
    there = _executors(spark)
    _kill_executor(spark)
    wait_for("another executor", lambda: len(_executors(spark) - there) == 1)
    after = [batches.moves() for _ in range(4)]
    query.stop()
    print("MOVES", json.dumps({"before": before, "after": after}))
    spark.stop()


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
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
