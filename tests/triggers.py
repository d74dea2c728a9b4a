# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Triggers of queries on every version of PySpark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter


def set_trigger(
    spark: SparkSession, writer: DataStreamWriter, trigger: Mapping[str, Any]
) -> DataStreamWriter:
    """Set the trigger. PySpark 4.1 supports real-time mode only in its JVM."""
    if "realTime" not in trigger or not spark.version.startswith("4.1."):
        return writer.trigger(**trigger)
    jvm: Any = spark._jvm
    kind = jvm.org.apache.spark.sql.streaming.Trigger.RealTime(trigger["realTime"])
    old: Any = writer
    old._jwrite = old._jwrite.trigger(kind)
    return writer
