# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Calls from Python to the running JVM about stream metadata and clusters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from splice._internal import jvm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class StoredSource:
    """Source of many clusters in a checkpoint.

    Attributes:
        name: Number of the source, followed by the folder of the leg if the source is a hybrid.
        start: Offset at which the query started; empty if it is not stored.
        committed: Offset after the last committed batch; empty without such a batch.
        log: Side log of the source in the JVM.
    """

    name: str
    start: str
    committed: str
    log: JavaObject


def dynamic_sources(spark: SparkSession, checkpoint: str) -> list[StoredSource]:
    """Return the sources of many clusters in a checkpoint.

    Raises:
        QueryExecutionException: if the folder has no checkpoint (of pyspark.errors).
    """
    driver = _driver()
    session = spark._jsparkSession
    configuration = session.sessionState().newHadoopConf()
    api = driver.splice.spark.internal.python.PythonApi
    found = []
    for one in json.loads(api.sideLogs(session, checkpoint)):
        folder = driver.org.apache.hadoop.fs.Path(one["folder"])
        log = driver.splice.coordinator.internal.sidelog.HadoopSideLog(folder, configuration)
        if _tools().isDynamic(log):
            start, committed = one.get("start", ""), one.get("committed", "")
            found.append(StoredSource(one["source"], start, committed, log))
    return found


def check(options: Mapping[str, str], reach: bool) -> dict[str, Any]:
    """Return the findings about the document of a source."""
    return _read(_tools().check(dict(options), reach))


def diff(options: Mapping[str, str], source: StoredSource) -> dict[str, Any]:
    """Return the differences between the document of a source and a checkpoint."""
    return _read(_tools().diff(dict(options), source.log, source.committed, source.start))


def drained(options: Mapping[str, str], source: StoredSource, cluster: str) -> dict[str, Any]:
    """Return the topics of a cluster that a checkpoint still needs."""
    return _read(_tools().drained(dict(options), source.log, source.committed, cluster))


def cluster(options: Mapping[str, str], topic: str) -> dict[str, Any]:
    """Return the brokers of a cluster, and the state of a topic."""
    return _read(_tools().cluster(dict(options), topic))


def _read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def _tools() -> Any:
    return _driver().splice.kafka.dynamic.internal.inspection.MetadataTools


def _driver() -> Any:
    return jvm.running()
