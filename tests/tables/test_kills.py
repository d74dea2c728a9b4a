# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills at durable steps of a history that is a table. Each restart plans other partitions.

Spark's log and the entries of the table are written in an order that only a killed query shows.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kill.killing import Kill
from kill.scenario import Scenario
from servers.kafka.topics import KafkaTopics
from tables import formats

pytestmark = pytest.mark.skipif(not formats.HAS_DELTA, reason=formats.WITHOUT_DELTA)

SLICES = 4

KILLS: Sequence[Kill] = (
    Kill.entry("leg-history/table", "after"),
    Kill.entry("leg-history/parts-00000000", "after"),
    Kill("row", "^history/", nth=40),
    Kill.commits(1),
    Kill.entry("leg-history/parts-00000003"),
    Kill.offsets(3),
    Kill.entry("leg-live/hand-over-00000000"),
)
"""Steps of successive runs."""

_PLANS = ("1k", "4k", "128m")
"""Values of ``maxPartitionBytes``, with which Spark plans several partitions, or one partition."""


def _given(scenario: Scenario, run: int) -> dict[str, str]:
    """Change the plans of the next run, and return its settings."""
    conf = {
        "spark.sql.files.maxPartitionBytes": _PLANS[run % len(_PLANS)],
        "spark.sql.files.openCostInBytes": "1",
        "spark.sql.adaptive.enabled": str(run % 2 == 0).lower(),
        **formats.catalogs(str(scenario.folder)),
    }
    scenario.given(conf=conf)
    return conf


def test_killed_at_durable_steps(
    lake: SparkSession, spark: SparkSession, topics: KafkaTopics, tmp_path: Path
) -> None:
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    scenario = Scenario.make(topics, topic, tmp_path, rows=1200)
    rows = lake.read.parquet(str(scenario.history))
    table = str(tmp_path / "table")
    rows.repartition(3).write.format("delta").save(table)
    options = {
        "history.source": "table",
        "history.format": "delta",
        "history.path": table,
        "history.sliceBy": "amount",
        "history.slices": str(SLICES),
        "history.maxBytesPerTrigger": "1",
    }
    scenario.given(session=spark, options=options)
    for run, kill in enumerate(KILLS):
        _given(scenario, run)
        scenario.die(kill)
        if run == 3:
            # Later versions of the table are not part of the history.
            lake.sql(f"DELETE FROM delta.`{table}` WHERE partition = 0")
    # The last run has a driver process with another number of cores.
    conf = _given(scenario, len(KILLS)) | dict(formats.extensions())
    scenario.given(master="local[3]", conf=conf)
    scenario.finish()
    scenario.assert_each_once()
    scenario.assert_switched_once()
