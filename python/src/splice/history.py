# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What has happened to a query's sources."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from splice import jvm
from splice.reading import source_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = (
    "source STRING NOT NULL, change BIGINT NOT NULL, at TIMESTAMP, generation BIGINT, "
    "event STRING NOT NULL, names ARRAY<STRING> NOT NULL"
)

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def query_history(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Reads from a checkpoint what has happened to the query's sources, oldest first.

    A source over many clusters tells of clusters and topics that were added, removed, read to
    their end, and came back. The query may be running.

    Args:
        spark: A classic session in this process.
        checkpoint: The folder that the query's option ``checkpointLocation`` names.

    Returns:
        The columns ``source``, ``change`` (a number that grows), ``at``, ``generation`` (of the
        metadata that the change comes from), ``event`` and ``names``.

    Raises:
        SetupError: where this process has no JVM that has Splice's jar.
        SourceError: where there is no checkpoint.
    """
    with source_errors():
        events = json.loads(jvm.history(checkpoint))
    return spark.createDataFrame([_row(event) for event in events], _SCHEMA)


def _row(event: dict[str, Any]) -> tuple[object, ...]:
    at = event.get("at")
    return (
        event["source"],
        event["change"],
        None if at is None else _EPOCH + timedelta(microseconds=at),
        event.get("generation"),
        event["event"],
        event["names"],
    )
