# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Events of the sources of a query."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from splice._internal import jvm
from splice._internal.reading import source_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = (
    "source STRING NOT NULL, change BIGINT NOT NULL, at TIMESTAMP, generation BIGINT, "
    "event STRING NOT NULL, names ARRAY<STRING> NOT NULL"
)

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def query_history(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Return the events of the query's sources in a checkpoint, oldest first.

    The events of a source over many clusters include clusters and topics that were added, removed,
    drained or added again. The query may be running.

    Args:
        spark: A classic session in this process.
        checkpoint: Folder of the query's option ``checkpointLocation``.

    Returns:
        The columns ``source``, ``change`` (a number that increases), ``at``, ``generation`` (of
        the metadata of the change), ``event`` and ``names``.

    Raises:
        SetupError: if this process has no JVM with Splice's jar.
        SourceError: if the folder has no checkpoint.
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
