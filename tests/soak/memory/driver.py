# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Read a topic in large batches in a small JVM, and write the memory of the JVM to a file.

Arguments: the source's options as JSON, the number of batches, and the working folder. Each line of
the file ``figures.jsonl`` in that folder is a JSON object with the figures of one batch.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from sessions import session
from soak.memory.seed import FIGURES, jvm

_EVERY = 5
"""Number of batches between two garbage collections that the program requests."""


def main(options: dict[str, str], batches: int, folder: Path) -> None:
    """Run the query until the query has read the batches."""
    spark = session(folder, jvm(folder))
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
    began, rows = time.monotonic(), 0
    # The output of the program may contain log lines, and this file does not.
    with (folder / FIGURES).open("w", buffering=1) as out:
        for batch, more in enumerate(_batches(query, batches), 1):
            rows += more
            if batch % _EVERY == 0:
                machine.java.lang.System.gc()
            found = {"batch": batch, "rows": rows, "seconds": round(time.monotonic() - began, 2)}
            print(json.dumps(found | _heap(machine) | _resident(pid)), file=out)
    query.stop()
    spark.stop()


def _batches(query: StreamingQuery, count: int) -> Iterator[int]:
    """Yield the number of rows of each completed batch, up to a number of batches."""
    seen, found = -1, 0
    while found < count:
        if not query.isActive:
            query.awaitTermination()
            raise SystemExit("the query ended early")
        # Progress as JSON has all offsets of 1,000 partitions, so only two numbers are requested.
        for progress in query._jsq.recentProgress():
            if progress.batchId() > seen and progress.numInputRows():
                seen, found = progress.batchId(), found + 1
                yield progress.numInputRows()
                if found == count:
                    return
        time.sleep(0.05)


def _heap(machine: Any) -> dict[str, int]:
    """Return the used bytes of the heap after the last collection, and at present."""
    beans = machine.java.lang.management.ManagementFactory
    after = 0
    for pool in beans.getMemoryPoolMXBeans():
        collected = pool.getCollectionUsage()
        if collected is not None and str(pool.getType().name()) == "HEAP":
            after += collected.getUsed()
    return {"heap": after, "used": beans.getMemoryMXBean().getHeapMemoryUsage().getUsed()}


def _resident(pid: int) -> dict[str, int]:
    """Return the current and the greatest resident bytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if " kB" in line}
    return {"resident": sizes["VmRSS"], "most": sizes["VmHWM"]}


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
