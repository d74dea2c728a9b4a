# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Copy orders to a topic with Spark's Kafka sink.

Arguments as JSON: the source's options, the writer's options and the session's settings. Further
arguments: the working folder, and the number of rows after which the program stops.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from servers.waiting import wait_for
from sessions import session


def main(
    options: dict[str, str], sink: dict[str, str], conf: dict[str, str], folder: Path, rows: int
) -> None:
    """Copy the orders."""
    spark = session(folder, conf)
    stream = spark.readStream.format("splice").options(**options).load()
    writer = (
        stream.selectExpr("order_id AS key", "CAST(amount AS STRING) AS value")
        .writeStream.format("kafka")
        .options(**sink)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
    )
    query = writer.start()
    topic = spark.read.format("kafka").option("subscribe", sink["topic"])
    written = topic.option("kafka.bootstrap.servers", sink["kafka.bootstrap.servers"])

    def enough() -> bool:
        if query.exception():
            raise RuntimeError(str(query.exception()))
        return written.load().count() >= rows

    wait_for(f"{rows} rows in the topic", enough, 200)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    source, sink, conf = (json.loads(argument) for argument in sys.argv[1:4])
    main(source, sink, conf, Path(sys.argv[4]), int(sys.argv[5]))
