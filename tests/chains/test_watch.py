# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Bars of running queries in a terminal."""

from __future__ import annotations

import io
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from rich.console import Console

from conftest import MakeTopic
from orders import archive, history, history_then_live, live, orders
from servers.kafka.topics import KafkaTopics
from servers.waiting import wait_for
from splice import FileSource, HybridSource, describe
from splice._internal.progress.loop import show
from splice._internal.progress.screens import TerminalScreen
from streams import start, start_to_drain

_FAST = timedelta(milliseconds=100)


def files(spark: SparkSession, folder: Path, first: int) -> FileSource:
    """Return a source of three files, each with 10 numbers, and one batch per file."""
    spark.range(first, first + 30, numPartitions=3).write.parquet(str(folder))
    return FileSource.builder("parquet", folder).option("maxFilesPerTrigger", 1).build()


def watched(query: StreamingQuery, file: io.StringIO | None = None) -> str:
    """Watch a query until its end or until an interrupt, and return the text of the terminal."""
    console = Console(file=file or io.StringIO(), record=True, force_terminal=True, width=160)
    before = threading.active_count()
    show(query, TerminalScreen(console, query.name or str(query.id)), _FAST, None)
    assert threading.active_count() <= before
    return console.export_text()


def test_two_legs_of_files_until_the_end_and_until_an_error(
    spark: SparkSession, tmp_path: Path
) -> None:
    both = (
        HybridSource.builder("archive", files(spark, tmp_path / "2025", 0))
        .add_source("recent", files(spark, tmp_path / "2026", 30))
        .build()
    )
    query = start_to_drain(both.read_stream(spark), tmp_path / "whole")
    shown = watched(query)
    assert "switch archive -> recent" in shown
    archive, recent = shown.split("The query has ended.\n")[1].splitlines()[:2]
    for line, leg in ((archive, "archive"), (recent, "recent")):
        assert line.startswith(leg)
        assert "100 %" in line
        assert "3 of 3 files" in line
    described = describe(query)
    (source,) = described.sources
    assert (source.leg, source.remaining) == ("recent", timedelta(0))
    assert (source.rows_per_second or 0) > 0
    assert (source.bytes_per_second or 0) > 0

    stream = both.read_stream(spark)
    for file in (tmp_path / "2026").glob("*.parquet"):
        file.write_bytes(b"not Parquet")
    shown = watched(start_to_drain(stream, tmp_path / "failed"))
    assert "switch archive -> recent" not in shown
    assert "The query failed: " in shown


def test_a_query_continues_after_an_interrupt(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(range(60), 3))
    archive(topics, topic, history_path, {0: 10, 1: 10, 2: 10})
    source = history_then_live(history(history_path, maxFilesPerTrigger="1"), live(topics, topic))
    query = start(source.read_stream(spark), tmp_path)

    terminal = io.StringIO()

    def interrupt() -> None:
        try:
            wait_for("the last leg", lambda: " 0 unread rows" in terminal.getvalue())
        except TimeoutError:
            # The end of the query ends the call below, and the test fails.
            query.stop()
            raise
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    try:
        # Without the interrupt, the call would last as long as the query. The pool ends after the
        # signal, so the next test receives no signal.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(interrupt)
            shown = watched(query, terminal)
        assert "The query continues." in shown
        assert signal.getsignal(signal.SIGINT) == handler
        assert "switch history -> live; live: handOver=offsets" in shown
        assert "0 unread rows" in shown
        topics.produce(topic, orders(range(60, 90), 3))
        wait_for(
            "rows after the interrupt",
            lambda: sum(one["numInputRows"] for one in query.recentProgress) == 90,
        )
        assert query.exception() is None
    finally:
        query.stop()
