# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed of memory: a backlog on many partitions, read in large batches in a small JVM."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from servers.class_data import java
from servers.kafka.cluster import KafkaCluster
from servers.kafka.jars import class_path
from servers.process import ServerProcess
from soak.story import Story

FIGURES = "figures.jsonl"
"""Name of the driver's file of figures."""

PARTITIONS = 1000
BATCHES = 200
ROWS = 500_000
"""Rows per batch."""

MOST_RESIDENT = int(2.9 * (1 << 30))
GROWTH = 32 << 20
"""Maximum difference in bytes of the heap after a collection between two parts of the run."""

_HOUR = 3600
_PRODUCER = "org.apache.kafka.tools.ProducerPerformance"
_TESTS = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class MemoryFate:
    """Records of a topic.

    Attributes:
        bytes: Size of each value.
        codec: Compression of record batches.
    """

    bytes: int
    codec: str


@dataclass(frozen=True)
class Figures:
    """Memory of the JVM after a batch, in bytes.

    Attributes:
        batch: Number of read batches.
        rows: Number of read rows.
        seconds: Time since the start of the query.
        heap: Used heap after the last collection.
        used: Used heap.
        resident: Resident memory.
        most: Greatest resident memory so far.
    """

    batch: int
    rows: int
    seconds: float
    heap: int
    used: int
    resident: int
    most: int


def jvm(folder: Path) -> dict[str, str]:
    """Return the settings of the driver, which also runs the tasks."""
    limits = "-XX:MaxDirectMemorySize=384m -XX:+UseG1GC -XX:+ExitOnOutOfMemoryError"
    return {
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"{limits} -Djava.io.tmpdir={folder}",
    }


def fate(seed: int) -> MemoryFate:
    """Return the choices of a seed. Seed 1 selects records of 100 bytes without compression."""
    if seed == 1:
        return MemoryFate(100, "none")
    chance = random.Random(seed)
    return MemoryFate(chance.choice([20, 50, 100]), chance.choice(["none", "lz4", "zstd"]))


def run_seed(seed: int, topic: str, kafka: KafkaCluster, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if the driver fails or exceeds its memory.
    """
    records = fate(seed)
    kafka.topics.create(topic, partitions=PARTITIONS)
    try:
        # The topic has more records than are read, so that every partition has records in each
        # batch.
        _fill(topic, kafka.bootstrap_servers, records, BATCHES * ROWS * 21 // 20)
        figures = _read(topic, kafka.bootstrap_servers, story.folder)
        story.faults.append(f"{records.bytes} bytes, {records.codec}: {summary(figures)}")
        check(figures)
    finally:
        kafka.topics.delete(topic)


def figures_of(file: Path) -> list[Figures]:
    """Return the figures that a driver wrote."""
    return [Figures(**json.loads(line)) for line in file.read_text().splitlines()]


def summary(figures: Sequence[Figures]) -> str:
    """Return the memory of a run in one line, in MiB, and its speed."""
    early, late = _halves(figures)
    last = figures[-1]
    return (
        f"{last.batch} batches, {last.rows} rows, {last.rows / last.seconds:.0f} rows per second, "
        f"at most {last.most >> 20} MiB resident, {early >> 20} and {late >> 20} MiB of heap after "
        "a collection in the second and last quarter"
    )


def check(figures: Sequence[Figures]) -> None:
    """Compare the memory of a run with its limits.

    Raises:
        AssertionError: if rows are missing, or the memory exceeds a limit or grows.
    """
    assert figures[-1].batch == BATCHES, summary(figures)
    # The share of each partition is rounded down.
    least = BATCHES * (ROWS - PARTITIONS)
    assert least <= figures[-1].rows <= BATCHES * ROWS, summary(figures)
    assert figures[-1].most < MOST_RESIDENT, summary(figures)
    early, late = _halves(figures)
    assert late - early <= GROWTH, summary(figures)


def _halves(figures: Sequence[Figures]) -> tuple[int, int]:
    """Return the median heap of the second and of the last quarter of a run."""
    quarter = len(figures) // 4
    second = statistics.median(f.heap for f in figures[quarter : 2 * quarter])
    last = statistics.median(f.heap for f in figures[3 * quarter :])
    return int(second), int(last)


def _fill(topic: str, servers: str, records: MemoryFate, count: int) -> None:
    properties = [
        f"bootstrap.servers={servers}",
        f"compression.type={records.codec}",
        "batch.size=65536",
        "linger.ms=100",
        "acks=1",
    ]
    command = [java(), "-Xmx512m", "-cp", class_path(), _PRODUCER]
    command += ["--topic", topic, "--num-records", str(count), "--throughput", "-1"]
    command += ["--record-size", str(records.bytes), "--producer-props", *properties]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_HOUR,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def _read(topic: str, servers: str, folder: Path) -> list[Figures]:
    options = {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(ROWS),
    }
    command = [sys.executable, "-m", "soak.memory.driver", json.dumps(options), str(BATCHES)]
    environment = {"PYTHONPATH": os.pathsep.join([str(_TESTS), *sys.path])}
    process = ServerProcess([*command, str(folder)], folder / "driver.log", environment)
    try:
        code = process.wait(_HOUR)
    finally:
        process.kill()
    assert code == 0, process.tail(80)
    return figures_of(folder / FIGURES)
