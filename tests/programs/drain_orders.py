# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Read all available orders and write them to Parquet, like a program of a user.

Arguments: the source's options as JSON, the output folder, and optionally the address of a Spark
Connect server.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from splice import FileSource, SetupError, configure, describe, watch


def main(options: dict[str, str], folder: Path, remote: str | None) -> None:
    """Read the orders, and print the description of the query."""
    if remote is None:
        spark = configure(SparkSession.builder).getOrCreate()
    else:
        spark = SparkSession.builder.remote(remote).getOrCreate()
    stream = spark.readStream.format("splice").options(**options).load()
    query = (
        stream.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    print(describe(query))
    watch(query)
    if remote is not None:
        try:
            FileSource.builder("parquet", str(folder)).build().plan(spark)
        except SetupError as error:
            print("plan:", error)
    print("batch rows:", spark.read.format("splice").options(**options).load().count())
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
