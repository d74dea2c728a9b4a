# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A folder to which files are added while queries run, alone and before a topic.

Suites of the JVM modules simulate listings, crashes, late files and the ends of a folder. The tests
of this module have real triggers, a real sink, files of Spark's writers, and a broker.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from background import Background
from conftest import MakeTopic
from orders import (
    FIRST_EVENT,
    HISTORY_SELECT,
    LIVE_SELECT,
    assert_each_once,
    ids,
    live,
    order_id,
    orders,
    write_archive,
)
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import FileSource, HandOver, HybridSource, describe
from streams import drain, start, written

PARTITIONS = 3


def add(folder: Path, name: str, numbers: Iterable[int]) -> None:
    """Add a CSV file as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    hidden = folder / f".{name}"
    hidden.write_text("".join(f"{number}\n" for number in numbers))
    hidden.rename(folder / name)


def watched(folder: Path, **options: str) -> FileSource:
    """Return a source of CSV files that lists a folder several times per second."""
    builder = FileSource.builder("csv", folder, discovery="watch", discovery_interval="100ms")
    return builder.schema("id BIGINT").options(**options).build()


def found(spark: SparkSession, folder: Path) -> list[int]:
    """Return the numbers that the queries of a folder have written."""
    return sorted(row.id for row in written(spark, folder).collect())


def rows(query: StreamingQuery) -> int:
    """Return the number of rows that a run has read. Raise the error of the query."""
    error = query.exception()
    if error is not None:
        raise error
    return sum(int(report["numInputRows"]) for report in query.recentProgress)


def has_read(query: StreamingQuery, number: int) -> bool:
    """Return whether a run has read this number of rows."""
    return rows(query) >= number


def leg(query: StreamingQuery) -> str | None:
    """Return the leg of the last report of a run."""
    sources = describe(query).sources
    return sources[0].leg if sources else None


def test_a_running_query_and_its_restarts_read_each_file_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Real triggers begin batches for files that another thread has listed."""
    folder = tmp_path / "in"

    def add_files(numbers: Iterable[int]) -> None:
        for number in numbers:
            add(folder, f"{number}.csv", range(number * 10, number * 10 + 10))

    add_files([0])
    stream = watched(folder, maxFilesPerTrigger="1").read_stream(spark)
    query = start(stream, tmp_path)
    try:
        wait_for("the first file", lambda: rows(query) >= 10)
        add_files(range(1, 6))
        wait_for("the files of the first run", lambda: rows(query) >= 60)
    finally:
        query.stop()
    add_files(range(6, 12))
    query = start(stream, tmp_path)
    try:
        wait_for("a part of the backlog", lambda: rows(query) >= 20)
    finally:
        query.stop()
    query = start(stream, tmp_path)
    try:
        add_files([12])
        wait_for("the last file", lambda: 129 in found(spark, tmp_path))
    finally:
        query.stop()
    assert found(spark, tmp_path) == list(range(130))


def test_each_run_with_available_now_reads_exactly_the_new_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A run with AvailableNow, and a batch, list the folder once, and their reports show it."""
    folder = tmp_path / "in"
    source = watched(folder, onEmpty="warn")
    folder.mkdir()
    assert rows(drain(source.read_stream(spark), tmp_path)) == 0
    for run in range(3):
        for number in (2 * run, 2 * run + 1):
            add(folder, f"{number}.csv", range(number * 10, number * 10 + 10))
        query = drain(source.read_stream(spark), tmp_path)
        assert rows(query) == 20
        metrics = describe(query).sources[0].metrics
        assert (metrics["filesListed"], metrics["filesRead"]) == (f"{2 * run + 2}",) * 2
        assert (metrics["filesLateTotal"], metrics["filesChangedTotal"]) == ("0", "0")
    assert rows(drain(source.read_stream(spark), tmp_path)) == 0
    assert found(spark, tmp_path) == list(range(60))
    assert source.read(spark).count() == 60


def test_partition_folders_of_a_spark_job(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes and reads the folder names. A listing of new folders skips an older folder."""
    folder = tmp_path / "in"

    def write(first: int, day: str) -> None:
        frame = spark.range(first, first + 10).selectExpr("id", f"DATE '{day}' AS day")
        frame.coalesce(1).write.mode("append").partitionBy("day").parquet(str(folder))

    write(0, "2026-01-02")
    source = FileSource.builder(
        "parquet",
        folder,
        discovery="watch",
        discovery_interval="100ms",
        discovery_timeout="2m",
        partition_order="day",
        full_listing_interval="none",
        late_file_horizon="none",
        on_late_file="fail",
    ).build()
    stream = source.read_stream(spark)
    assert stream.schema == spark.read.parquet(str(folder)).schema
    query = start(stream, tmp_path)
    try:
        wait_for("the first folder", lambda: rows(query) >= 10)
        write(10, "2026-01-01")
        write(20, "2026-01-03")
        wait_for("the new folder", lambda: 29 in found(spark, tmp_path))
    finally:
        query.stop()
    assert found(spark, tmp_path) == [*range(10), *range(20, 30)]
    drain(source.read_stream(spark), tmp_path)
    counts = written(spark, tmp_path).groupBy("day").count().collect()
    days = ("2026-01-01", "2026-01-02", "2026-01-03")
    assert {str(row.day): row["count"] for row in counts} == dict.fromkeys(days, 10)


def test_the_output_of_another_query_without_its_failed_batches(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The sink of Spark commits files to its log. Other files in the folder are not read."""
    folder, first, then = tmp_path / "in", tmp_path / "first", tmp_path / "then"
    out = (
        FileSource.builder("parquet", first / "out", discovery="watch").schema("id BIGINT").build()
    )
    for run in range(3):
        add(folder, f"{run}.csv", range(run * 10, run * 10 + 10))
        drain(watched(folder).read_stream(spark), first)
        part = next((first / "out").glob("*.parquet"))
        shutil.copy(part, first / "out" / f"part-of-failed-batch-{run}.parquet")
        drain(out.read_stream(spark), then)
    assert found(spark, then) == list(range(30))


class Archiver(Background):
    """Producer of orders, and archiver that copies most of the orders from the topic to files.

    The archive lacks every seventh order, as after a failure of the archiver.
    """

    STEP = 30

    def __init__(self, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Create an archiver that begins with the first order of an empty topic."""
        super().__init__("archiver", pause=0.3)
        self._topics, self._topic, self.folder = topics, topic, folder
        self.produced = 0

    def work(self) -> None:
        """Produce the next orders, and add the files of these orders to the archive."""
        numbers = range(self.produced, self.produced + self.STEP)
        self._topics.produce(self._topic, orders(numbers, PARTITIONS))
        hidden = self.folder / f".{self.produced}"
        write_archive([self._row(number) for number in numbers if number % 7], hidden)
        for part in sorted(hidden.iterdir()):
            part.rename(self.folder / f"{self.produced:06d}-{part.name}")
        hidden.rmdir()
        self.produced = numbers.stop

    def _row(self, number: int) -> dict[str, object]:
        # The number of an order determines its partition, and its offset in an empty topic.
        return {
            "order_id": order_id(number),
            "amount": number / 4,
            "event_time": datetime.fromtimestamp(FIRST_EVENT / 1000 + number, timezone.utc),
            "topic": self._topic,
            "partition": number % PARTITIONS,
            "offset": number // PARTITIONS,
        }


def growing_then_live(archiver: Archiver, topics: KafkaTopics, topic: str) -> HybridSource:
    """Return a chain of a watched archive, which ends when the query has caught up, and a topic."""
    archive = FileSource.builder(
        "parquet",
        archiver.folder,
        discovery="watch",
        discovery_interval="100ms",
        end_when="caughtUp",
    )
    return (
        HybridSource.builder("history", archive.build(), select=HISTORY_SELECT)
        .add_source(
            "live",
            live(topics, topic),
            hand_over=HandOver.offsets(topic="topic", partition="partition", offset="offset"),
            select=LIVE_SELECT,
            on_holes="fill",
        )
        .build()
    )


def assert_read_once(spark: SparkSession, folder: Path, archiver: Archiver) -> None:
    """Assert that both legs have rows, and that the query has read each order once."""
    out = written(spark, folder)
    assert_each_once(ids(out), range(archiver.produced))
    assert Counter(row["_leg"] for row in out.collect()).keys() == {"history", "live"}


def test_a_running_query_catches_up_with_an_archiver(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
) -> None:
    """The archive ends although files always arrive, and the log has the other offsets."""
    topic = make_topic(PARTITIONS)
    with Archiver(topics, topic, history_path) as archiver:
        wait_for("the first files", lambda: archiver.produced > 0)
        stream = growing_then_live(archiver, topics, topic).read_stream(spark).select("*", "_leg")
        query = start(stream, tmp_path)
        try:
            wait_for("rows of the archive", lambda: rows(query) > 0)
        finally:
            query.stop()
        query = start(stream, tmp_path)
        try:
            wait_for("the live leg", lambda: rows(query) >= 0 and leg(query) == "live")
            until = archiver.produced + 3 * archiver.STEP
            wait_for("orders after the switch", lambda: archiver.produced >= until)
        finally:
            query.stop()
    drain(stream, tmp_path)
    assert_read_once(spark, tmp_path, archiver)


def test_runs_with_available_now_while_an_archiver_writes(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
) -> None:
    """The listing at the start of the first run ends the archive, and later runs need no files."""
    topic = make_topic(PARTITIONS)
    archiver = Archiver(topics, topic, history_path)
    archiver.work()
    stream = growing_then_live(archiver, topics, topic).read_stream(spark).select("*", "_leg")
    with archiver:
        query = drain(stream, tmp_path)
        assert leg(query) == "live"
    shutil.rmtree(history_path)
    drain(stream, tmp_path)
    assert_read_once(spark, tmp_path, archiver)


def test_the_folder_of_a_running_query_and_then_its_topic(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
) -> None:
    """The folder ends with a batch of its sink, and the topic begins after this batch."""
    topic, folder, checkpoint = make_topic(PARTITIONS), tmp_path / "files", tmp_path / "writer"
    select = "CAST(key AS STRING) AS order_id"
    source = live(topics, topic, startingOffsets="earliest").read_stream(spark)
    sink = source.selectExpr(select).writeStream.option("checkpointLocation", str(checkpoint))
    history = FileSource.builder(
        "parquet", folder, discovery="watch", discovery_interval="100ms", end_when="caughtUp"
    )
    chain = (
        history.schema("order_id STRING")
        .build()
        .then(
            live(topics, topic),
            hand_over=HandOver.writer_checkpoint(str(checkpoint)),
            select=("order_id", select),
        )
    )
    topics.produce(topic, orders(range(30), PARTITIONS))
    writer = sink.start(str(folder), format="parquet")
    try:
        wait_for("the first files", lambda: rows(writer) >= 30)
        query = start(chain.read_stream(spark), tmp_path)
        try:
            for first in range(30, 90, 10):
                topics.produce(topic, orders(range(first, first + 10), PARTITIONS))
                wait_for("rows", partial(has_read, writer, first + 10))
            wait_for("the live leg", lambda: rows(query) >= 0 and leg(query) == "live")
        finally:
            query.stop()
    finally:
        writer.stop()
    topics.produce(topic, orders(range(90, 100), PARTITIONS))
    drain(chain.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), range(100))
