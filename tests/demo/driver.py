# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The query of the demo: the code of the README, with a Parquet sink and a checkpoint.

The query runs until its folder has a file ``stop``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from splice import FileSource, HandOver, HybridSource, KafkaSource, configure


def main() -> None:
    """Run the query."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers")
    parser.add_argument("topic")
    parser.add_argument("folder", type=Path, help="folder of the history and the output")
    parser.add_argument("reports", type=Path, help="file for progress reports")
    parser.add_argument("--files", type=int, required=True, help="maximum files per batch")
    parser.add_argument("--records", type=int, required=True, help="maximum records per batch")
    given = parser.parse_args()
    folder: Path = given.folder

    spark = configure(_builder(folder)).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")

    history = (
        FileSource.builder("parquet", folder / "history")
        .option("maxFilesPerTrigger", given.files)
        .build()
    )
    live = (
        KafkaSource.builder()
        .bootstrap_servers(given.servers)
        .topics(given.topic)
        .option("maxOffsetsPerTrigger", given.records)
        .build()
    )
    orders = (
        HybridSource.builder("history", history, select="order_id, amount, event_time")
        .add_source(
            "live",
            live,
            hand_over=HandOver.offsets(),
            select="CAST(key AS STRING) AS order_id, "
            "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount, "
            "timestamp AS event_time",
        )
        .build()
    )
    query = (
        orders.read_stream()
        .writeStream.format("parquet")
        .option("path", str(folder / "sink"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="500 milliseconds")
        .start()
    )
    _run(query, given.reports, folder / "stop")
    spark.stop()


def _builder(folder: Path) -> SparkSession.Builder:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return (
        SparkSession.builder.master("local[2]")
        .appName("splice-demo")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", str(folder / "local"))
        # A killed JVM leaves its temporary files, so they are in the demo's folder. Most of
        # a short life is its start, which a simple compiler and collector make faster.
        .config(
            "spark.driver.extraJavaOptions",
            f"-Djava.io.tmpdir={temporary} -XX:-UsePerfData "
            "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        )
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.ui.enabled", "false")
    )


def _run(query: StreamingQuery, reports: Path, stop: Path) -> None:
    reported = -1
    with reports.open("w") as out:
        while not query.awaitTermination(1):
            for report in query.recentProgress:
                if report["batchId"] > reported:
                    reported = report["batchId"]
                    out.write(report.json.replace("\n", " ") + "\n")
            out.flush()
            if stop.exists():
                query.stop()


if __name__ == "__main__":
    main()
