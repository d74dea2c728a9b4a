# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""plan(spark), compared with the rows of the query, on Parquet files and a broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from orders import HISTORY_SELECT, LIVE_SELECT, assert_each_once, history, ids, live
from servers.kafka.topics import KafkaTopics
from splice import HandOver, HybridSource, SourceError, describe
from streams import drain, written


@pytest.fixture
def source(topics: KafkaTopics, topic: str, history_path: Path) -> HybridSource:
    """A chain of a history with 30 orders and a topic with 60 orders, in small batches."""
    first = history(history_path, maxFilesPerTrigger="3")
    then = live(
        topics,
        topic,
        maxOffsetsPerTrigger="12",
        commitToGroup="true",
        **{"kafka.group.id": f"group-{topic}"},
    )
    return (
        HybridSource.builder("history", first, select=HISTORY_SELECT)
        .add_source("live", then, hand_over=HandOver.offsets(), select=LIVE_SELECT)
        .build()
    )


def _legs(query: StreamingQuery) -> list[str]:
    return [
        report["sources"][0]["metrics"]["leg"]
        for report in query.recentProgress
        if report["numInputRows"] > 0
    ]


def test_a_scan_has_the_batches_and_the_switch_of_the_query(
    spark: SparkSession, source: HybridSource, topics: KafkaTopics, topic: str, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    planned = source.plan(spark, scan=True)
    # A plan starts no query, writes no file and commits no offsets.
    assert spark.streams.active == []
    assert sorted(tmp_path.rglob("*")) == before
    assert topics.committed(f"group-{topic}", topic) == {}
    assert planned.warnings == ()
    first, then = planned.legs
    assert (first.files, first.rows, then.rows) == (4, 30, 30)
    assert then.topics[0].ranges == {0: (0, 20), 1: (0, 20), 2: (0, 20)}
    assert then.start == {topic: {"0": 10, "1": 10, "2": 10}}
    query = drain(source.read_stream(spark), tmp_path)
    legs = _legs(query)
    assert planned.batches == len(legs)
    assert [first.batches, then.batches] == [legs.count("history"), legs.count("live")]
    assert_each_once(ids(written(spark, tmp_path)), range(60))
    # The switch of the query equals the switch of the plan.
    (done,) = describe(query).hand_overs
    assert then.hand_over is not None
    assert (done.leg, done.rule, done.start) == ("live", then.hand_over.rule, "offsets")
    assert done.rows == then.hand_over.rows
    assert "0 to 9" in str(describe(query))
    assert topics.committed(f"group-{topic}", topic) != {}


def test_a_plan_without_a_scan_has_the_log_and_no_start(
    spark: SparkSession, source: HybridSource, topic: str
) -> None:
    planned = source.plan(spark)
    assert planned.batches is None
    first, then = planned.legs
    assert (first.rows, first.batches, then.batches) == (30, 2, None)
    assert then.hand_over is not None
    assert "scan=True" in str(then.hand_over.undecided)
    assert then.topics[0].name == topic
    assert then.topics[0].complete_since == "2026-01-01T00:00:02Z"
    assert topic in str(planned)
    assert f"<td>{topic}</td>" in planned._repr_html_()
    json.dumps(planned.to_dict())


def test_a_plan_of_kafka_alone(spark: SparkSession, topics: KafkaTopics, topic: str) -> None:
    alone = live(topics, topic, startingOffsets="earliest", maxOffsetsPerTrigger="21")
    planned = alone.plan(spark)
    assert (planned.batches, planned.legs[0].rows) == (3, 60)
    assert live(topics, topic).plan(spark).batches == 0


def test_a_missing_topic_is_an_error_of_the_plan_and_of_the_first_start(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    wrong = (
        HybridSource.builder("history", history(history_path), select=HISTORY_SELECT)
        .add_source(
            "live",
            live(topics, f"{topic}-typo"),
            hand_over=HandOver.offsets(),
            select=LIVE_SELECT,
        )
        .build()
    )
    with pytest.raises(SourceError, match=f"{topic}-typo"):
        wrong.plan(spark)
    failed = _failure(wrong, spark, tmp_path)
    assert f"{topic}-typo" in failed
    assert not (tmp_path / "checkpoint" / "offsets").exists() or not list(
        (tmp_path / "checkpoint" / "offsets").glob("[0-9]*")
    )


def _failure(source: HybridSource, spark: SparkSession, folder: Path) -> str:
    with pytest.raises(Exception) as raised:  # noqa: PT011 (PySpark's class differs by version)
        drain(source.read_stream(spark), folder)
    return str(raised.value)


def test_a_gap_is_expected_before_the_query_starts(
    spark: SparkSession, source: HybridSource, topics: KafkaTopics, topic: str
) -> None:
    topics.delete_records(topic, {0: 15})
    failed: Any = source.plan(spark, scan=True).legs[1].hand_over
    assert "SPLICE_HAND_OVER_DATA.GAP" in failed.error
    assert f"{topic}-0 10 to 14" in failed.error
