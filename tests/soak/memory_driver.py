# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads a topic in large batches within a small JVM, and prints the memory of the JVM.

Arguments: the source's options as JSON, the number of batches, and the folder to work in. Each line
of the output that begins with ``MEMORY`` is a JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from sessions import session
from soak.memory_seed import JVM, MARK

_EVERY = 5
"""Batches between two measurements."""


def main(options: dict[str, str], batches: int, folder: Path) -> None:
    """Runs the query until it has read the batches."""
    spark = session(folder, JVM)
    query = (
        spark.readStream.format("splice-kafka")
        .options(**options)
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .start()
    )
    machine: Any = spark._jvm
    pid = machine.java.lang.ProcessHandle.current().pid()
    rows: dict[int, int] = {}
    measured = 0
    while len(rows) < batches:
        if not query.isActive:
            query.awaitTermination()
            raise SystemExit("the query ended early")
        _learn(query, rows)
        if len(rows) >= measured + _EVERY:
            measured = len(rows)
            found = {"batch": measured, "rows": sum(rows.values()), "heap": _heap(machine)}
            print(MARK, json.dumps(found | _resident(pid)), flush=True)
        time.sleep(0.02)
    query.stop()
    spark.stop()


def _learn(query: StreamingQuery, rows: dict[int, int]) -> None:
    for progress in query.recentProgress:
        if progress["numInputRows"]:
            rows[progress["batchId"]] = progress["numInputRows"]


def _heap(machine: Any) -> int:
    """Collect all garbage, and return the bytes of the heap that are in use after it."""
    beans = machine.java.lang.management.ManagementFactory
    machine.java.lang.System.gc()
    used = 0
    for pool in beans.getMemoryPoolMXBeans():
        after = pool.getCollectionUsage()
        if after is not None and str(pool.getType().name()) == "HEAP":
            used += after.getUsed()
    return used


def _resident(pid: int) -> dict[str, int]:
    """Return the resident bytes of a process, now and at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if " kB" in line}
    return {"resident": sizes["VmRSS"], "most": sizes["VmHWM"]}


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
