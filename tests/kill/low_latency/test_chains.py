# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of hybrids in real-time mode and in continuous mode."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kill.copies import CONTINUOUS, REAL_TIME, Copies
from kill.killing import Kill
from kill.low_latency.chain import Chain, LogChain
from servers.kafka.topics import KafkaTopics

_ROWS = 1000
_HAND_OVER = "leg-live/hand-over-.*"


def _copies(kind: type[Chain], spark: SparkSession, topics: KafkaTopics, folder: Path) -> Copies:
    """Return a query over a topic with a history of its first half. The query is not started."""
    chain = kind(topics, f"orders-{uuid.uuid4().hex[:8]}", folder)
    chain.produce(_ROWS)
    chain.keep()
    copies = chain.copied()
    chain.given(session=spark)
    return copies


def _assert_switched_once(copies: Copies) -> None:
    switches = [key for key in copies.relay.checkpoint.entries() if "/hand-over-" in key]
    assert switches == ["leg-live/hand-over-00000000"]


@pytest.mark.parametrize("trigger", [REAL_TIME, CONTINUOUS], ids=str)
def test_killed_in_each_leg_and_at_the_switch(
    spark: SparkSession, topics: KafkaTopics, tmp_path: Path, trigger: Mapping[str, Any]
) -> None:
    copies = _copies(Chain, spark, topics, tmp_path)
    for kill in (
        Kill("row", "history/", nth=_ROWS // 4),
        Kill.entry(_HAND_OVER),
        Kill.entry(_HAND_OVER, "after"),
        Kill("row", "live/", nth=_ROWS // 4),
        Kill("rename", r"/commits/\d+$", nth=2),
    ):
        copies.die(trigger, kill)
        copies.relay.produce(_ROWS // 10)
    copies.finish(trigger)
    copies.assert_at_least_once()
    _assert_switched_once(copies)


def test_killed_in_a_bounded_log_and_in_the_streams_after_the_log(
    spark: SparkSession, topics: KafkaTopics, tmp_path: Path
) -> None:
    copies = _copies(LogChain, spark, topics, tmp_path)
    for kill in (
        Kill("row", "history/", nth=_ROWS // 4),
        Kill("row", "live/", nth=_ROWS // 4),
    ):
        copies.die(REAL_TIME, kill)
        copies.relay.produce(_ROWS // 10)
    copies.finish(REAL_TIME)
    copies.assert_at_least_once()
    _assert_switched_once(copies)
