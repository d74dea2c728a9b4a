# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command ``splice demo``."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from splice import FileSource, HandOver, HybridSource, KafkaSource, describe
from splice.cli import OK, PROBLEM
from splice.cli.demo import late
from splice.cli.demo.topic import DemoTopic
from splice.cli.options import add_kafka, properties, require_servers
from splice.cli.session import add_conf, local_session
from splice.errors import OptionError

if TYPE_CHECKING:
    import argparse

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ARCHIVED = 1000
"""Number of orders in the first leg."""

ORDERS = 1200
"""Number of all orders."""

_COLUMNS = ("id AS order_id", "CAST(id * 1.5 AS DOUBLE) AS amount")
_OF_TOPIC = (
    "CAST(CAST(key AS STRING) AS BIGINT) AS order_id, "
    "CAST(CAST(value AS STRING) AS DOUBLE) AS amount"
)
_WAIT = 120


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of the command."""
    command = commands.add_parser(
        "demo",
        help="run a query that reads a history and then continues, with a stop between",
        description=(
            "Write two small Parquet histories, read the histories in one query with a checkpoint, "
            "and stop and restart the query once. With --servers, the second leg is a new Kafka "
            "topic, which the command deletes at the end. The exit code is 1 if a row is missing "
            "or duplicated. With late and --servers, two queries count the windows of a topic "
            "whose partitions cover different times, by admission=lag and by admission=eventTime."
        ),
    )
    command.add_argument(
        "topic",
        nargs="?",
        choices=("restart", "late"),
        default="restart",
        help="restart of a query (default), or late rows of a backlog",
    )
    add_kafka(command)
    command.add_argument(
        "--keep",
        metavar="FOLDER",
        help="write the files to this folder, and keep them; the folder must not exist",
    )
    add_conf(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the demo, and remove its files and its topic."""
    require_servers(arguments, ["--kafka", "--kafka-file"])
    client = properties(arguments)
    if arguments.topic == "late":
        if not arguments.servers:
            raise OptionError("splice demo late needs --servers.")
        with (
            local_session(arguments) as spark,
            DemoTopic(arguments.servers, client, len(late.HOURS)) as topic,
        ):
            return OK if late.run(spark, topic) else PROBLEM
    if arguments.keep:
        folder = Path(arguments.keep)
        folder.mkdir(parents=True)
    else:
        folder = Path(tempfile.mkdtemp(prefix="splice-demo-"))
    try:
        with local_session(arguments) as spark:
            if not arguments.servers:
                return _Demo(spark, folder).run(_archives(spark, folder))
            with DemoTopic(arguments.servers, client) as topic:
                return _Demo(spark, folder).run(_archive_and_topic(spark, folder, topic))
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _archives(spark: SparkSession, folder: Path) -> HybridSource:
    """Write two archives, and return a source that reads one after the other."""
    years = {"2025": (0, ARCHIVED, 4), "2026": (ARCHIVED, ORDERS, 1)}
    for year, (first, end, files) in years.items():
        orders = spark.range(first, end, numPartitions=files).selectExpr(*_COLUMNS)
        orders.write.parquet(str(folder / year))
    print(f"{ARCHIVED} orders in {folder / '2025'}, {ORDERS - ARCHIVED} in {folder / '2026'}")
    archive = FileSource.builder("parquet", folder / "2025").option("maxFilesPerTrigger", 2)
    recent = FileSource.builder("parquet", folder / "2026")
    builder = HybridSource.builder("archive", archive.build())
    return builder.add_source("recent", recent.build()).build()


def _archive_and_topic(spark: SparkSession, folder: Path, topic: DemoTopic) -> HybridSource:
    """Fill the topic, write an archive of its first records, and return a source of both."""
    topic.produce((str(order), str(order * 1.5)) for order in range(ORDERS))
    spark.range(0, ARCHIVED, numPartitions=4).selectExpr(
        *_COLUMNS, f"'{topic.name}' AS topic", "0 AS partition", "id AS offset"
    ).write.parquet(str(folder / "2025"))
    print(f"{ORDERS} orders in the topic {topic.name}, the first {ARCHIVED} also in an archive")
    archive = FileSource.builder("parquet", folder / "2025").option("maxFilesPerTrigger", 2)
    live = KafkaSource.builder().bootstrap_servers(topic.servers).topics(topic.name)
    live = live.properties(topic.client)
    builder = HybridSource.builder("archive", archive.build(), select="order_id, amount")
    return builder.add_source("live", live.build(), HandOver.offsets(), select=_OF_TOPIC).build()


class _Demo:
    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder

    def run(self, source: HybridSource) -> int:
        first = self._start(source, once=False)
        try:
            _await_rows(first)
        finally:
            first.stop()
        print(f"\nThe query was stopped after {self._rows()} rows, in the first leg:")
        print(describe(first))
        second = self._start(source, once=True)
        try:
            second.awaitTermination()
        finally:
            second.stop()
        print("\nThe restarted query read the remaining rows and switched to the next leg:")
        print(describe(second))
        return OK if self._judge() else PROBLEM

    def _start(self, source: HybridSource, once: bool) -> StreamingQuery:
        writer = (
            source.read_stream(self._spark)
            .select("*", "_leg")
            .writeStream.queryName("demo")
            .format("parquet")
            .option("path", str(self._folder / "out"))
            .option("checkpointLocation", str(self._folder / "checkpoint"))
        )
        # Spark aligns batches to multiples of the interval since 1970, so a second batch of a
        # shorter interval may follow soon.
        timed = (
            writer.trigger(availableNow=True)
            if once
            else writer.trigger(processingTime="3650 days")
        )
        return timed.start()

    def _rows(self) -> int:
        return self._spark.read.parquet(str(self._folder / "out")).count()

    def _judge(self) -> bool:
        """Print the rows per leg, and compare the rows with the orders."""
        rows = self._spark.read.parquet(str(self._folder / "out")).collect()
        print("\nRows per leg:")
        for leg, count in sorted(Counter(row["_leg"] for row in rows).items()):
            print(f"  {leg}: {count}")
        found = [row.order_id for row in rows]
        missing, repeated = ORDERS - len(set(found)), len(found) - len(set(found))
        print(f"{len(found)} rows, {missing} missing, {repeated} duplicated")
        return not missing and not repeated


def _await_rows(query: StreamingQuery) -> None:
    # A trigger with a long interval runs one batch, and then waits.
    limit = time.monotonic() + _WAIT
    while not query.recentProgress and query.isActive and time.monotonic() < limit:
        time.sleep(0.05)
    if not query.isActive:
        query.awaitTermination()
    if not query.recentProgress:
        raise OSError(f"The query committed no batch within {_WAIT} seconds.")
