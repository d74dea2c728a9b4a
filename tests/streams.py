# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Queries in the session of the tests, with a Parquet sink."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from servers.waiting import wait_for


def start(stream: DataFrame, folder: Path, every: str = "100 milliseconds") -> StreamingQuery:
    """Start a query without an end, which resumes on the checkpoint of the folder."""
    return _writer(stream, folder).trigger(processingTime=every).start()


def start_to_drain(stream: DataFrame, folder: Path) -> StreamingQuery:
    """Start a query with AvailableNow, without waiting for its end."""
    return _writer(stream, folder).trigger(availableNow=True).start()


def drain(stream: DataFrame, folder: Path) -> StreamingQuery:
    """Run a query with AvailableNow, which resumes on the checkpoint of the folder."""
    query = start_to_drain(stream, folder)
    try:
        wait_for("the query to end", lambda: query.awaitTermination(1))
    finally:
        query.stop()
    return query


def written(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the rows that the queries of a folder have written."""
    return spark.read.parquet(str(folder / "out"))


def _writer(stream: DataFrame, folder: Path) -> DataStreamWriter:
    return (
        stream.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
