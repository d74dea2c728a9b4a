# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Read a topic in real-time mode and in continuous mode with Spark Connect.

Arguments: the source's options as JSON, the number of rows, a folder, and the address of a Spark
Connect server. The folder ``real-time`` gets the file ``seen`` with the keys of the rows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from demo.checkpoint import Checkpoint
from servers.waiting import wait_for
from splice import describe


def main(options: dict[str, str], rows: int, folder: Path, remote: str) -> None:
    """Run one query per mode, and print the description of each query."""
    spark = SparkSession.builder.remote(remote).getOrCreate()
    spark.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "1000")
    stream = spark.readStream.format("splice").options(**options).load()
    keys = stream.selectExpr("cast(key as string) as id")
    seen, epochs = folder / "real-time" / "seen", folder / "continuous"
    seen.parent.mkdir()

    # The type of a classic session has no real-time mode in PySpark 4.1.
    real_time: dict[str, Any] = {"realTime": "2 seconds"}

    def append(row: Any) -> None:
        with seen.open("a") as out:
            out.write(f"{row['id']}\n")

    query = (
        keys.writeStream.foreach(append)
        .outputMode("update")
        .option("checkpointLocation", str(seen.parent))
        .trigger(**real_time)
        .start()
    )
    wait_for("all rows", lambda: seen.exists() and len(seen.read_text().splitlines()) >= rows)
    wait_for("a committed batch", lambda: Checkpoint(seen.parent).is_committed(0))
    print("real-time:", describe(query))
    query.stop()

    query = (
        keys.writeStream.format("noop")
        .option("checkpointLocation", str(epochs))
        .trigger(continuous="200 milliseconds")
        .start()
    )
    wait_for("a committed epoch with all rows", lambda: Checkpoint(epochs).has_committed(rows))
    print("continuous:", describe(query))
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
