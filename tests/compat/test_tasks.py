# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Number of tasks of a batch, and number of rows per task."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from compat.pair import OURS, SIDES, SPARKS, Pair, records
from conftest import MakeTopic
from servers.kafka.topics import KafkaTopics


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic with 2 partitions of 30 and 6 records."""
    name = make_topic(2)
    topics.produce(name, [*records(0, range(30)), *records(1, range(6))])
    return name


def test_at_least_n_tasks(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "minPartitions": "6"}
    assert len(pair.read(**options)) == 36
    assert min(len(rows_by_task(pair, side, options)) for side in SIDES) >= 6


def test_at_most_n_records_per_task(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "maxRecordsPerPartition": "7"}
    assert len(pair.read(**options)) == 36
    assert max(rows_by_task(pair, OURS, options)) <= 7
    # Spark's source uses -2 and -1 for earliest and latest here, so it splits no range.
    assert max(rows_by_task(pair, SPARKS, options)) == 30
    options["startingOffsets"] = json.dumps({topic: {"0": 0, "1": 0}})
    options["endingOffsets"] = json.dumps({topic: {"0": 30, "1": 6}})
    assert max(max(rows_by_task(pair, side, options)) for side in SIDES) <= 7


def test_both_in_a_stream(pair: Pair, topic: str) -> None:
    options = {"subscribe": topic, "minPartitions": "4", "maxRecordsPerPartition": "5"}
    rows = pair.drain(**options, startingOffsets="earliest", maxOffsetsPerTrigger="20")
    assert len(rows) == 36


def test_pieces_share_consumers(pair: Pair, topic: str) -> None:
    options = {"minPartitions": "9", "maxOffsetsPerTrigger": "12", "startingOffsets": "earliest"}
    assert len(pair.drain(subscribe=topic, **options)) == 36
    last = [one for one in pair.metrics[OURS] if one][-1]
    # Each of two tasks at a time has a consumer, opened again for two and for four partitions.
    assert int(last["readersOpenedTotal"]) <= 2 * 3
    assert int(last["readersOpenedTotal"]) + int(last["readersReusedTotal"]) >= 27


@pytest.mark.parametrize("option", ["minPartitions", "maxRecordsPerPartition"])
def test_numbers_that_are_none(pair: Pair, topic: str, option: str) -> None:
    for number in ("0", "-1", "many"):
        options = {"subscribe": topic, option: number}
        with pytest.raises(Exception, match=r"positive|For input string"):
            pair.batch(SPARKS, options).collect()
        # The error occurs before any action.
        with pytest.raises(
            Exception, match=f"'{number}' is not a valid value of option '{option}'"
        ):
            pair.batch(OURS, options)


def rows_by_task(pair: Pair, side: str, options: dict[str, Any]) -> list[int]:
    """Return the number of rows of each task that reads rows."""
    frame = pair.batch(side, options).select(F.spark_partition_id().alias("task"))
    return [row["count"] for row in frame.groupBy("task").count().collect()]
