# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the page about backfills, with a topic whose retention is too short."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import assert_each_once, ids, order_id
from pages.page import Page
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics

PAGE = Page("docs/how-to/backfill.md")
ALL, ARCHIVED, RECENT, COMPACTED = range(20), range(8), range(8, 14), 3


class Place:
    """A topic with one partition, and the folders of its archives."""

    def __init__(self, spark: SparkSession, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Fill the topic, whose offsets are the numbers of the orders."""
        self._spark, self._topics, self._topic, self._folder = spark, topics, topic, folder
        topics.produce(topic, [Record(str(n / 4), order_id(n), 0) for n in ALL])

    def archive(self, name: str, numbers: Iterable[int]) -> None:
        """Write an archive with some orders."""
        schema = "order_id STRING, amount DOUBLE, topic STRING, partition INT, offset BIGINT"
        rows = [(order_id(n), n / 4, self._topic, 0, n) for n in numbers]
        frame = self._spark.createDataFrame(rows, schema).coalesce(1)
        frame.write.parquet(f"{self._folder}/{name}")

    def shown(self, run: str = "run") -> dict[str, str]:
        """Return the addresses and folders of the page, with those of a run."""
        return {
            "broker:9092": self._topics.bootstrap_servers,
            'topics("orders")': f'topics("{self._topic}")',
            '"/lake/result': f'"{self._folder}/{run}/result',
            '"/lake': f'"{self._folder}',
            '"/checkpoints': f'"{self._folder}/{run}/checkpoints',
        }

    def result(self, name: str, run: str = "run") -> list[str]:
        """Return the ids in an output of a run."""
        return ids(self._spark.read.parquet(f"{self._folder}/{run}/{name}"))


def test_each_program(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = make_topic(1)
    place = Place(spark, topics, topic, tmp_path / "orders-lake")
    place.archive("orders", ARCHIVED)
    place.archive("recent", RECENT)
    names: dict[str, Any] = {}
    chain, plan, first, recent, growing, again, compacted = PAGE.blocks("python")
    PAGE.run(chain, place.shown(), names)
    capsys.readouterr()
    PAGE.run(plan, place.shown(), names)
    assert "complete since" in capsys.readouterr().out
    PAGE.run(first, place.shown("long-retention"), names)
    assert "live" in capsys.readouterr().out
    assert_each_once(place.result("result", "long-retention"), ALL)
    PAGE.run(growing, place.shown("long-retention"), names)
    assert_each_once(place.result("result-watched", "long-retention"), ALL)

    topics.delete_records(topic, {0: RECENT.stop - 2})
    with pytest.raises(Exception, match=r"SPLICE_HAND_OVER_DATA\.GAP"):
        PAGE.run(first, place.shown(), names)
    assert_each_once(place.result("result"), ARCHIVED)
    PAGE.run(recent, place.shown(), names)
    assert_each_once(place.result("result"), ALL)
    PAGE.run(again, place.shown(), names)
    assert_each_once(place.result("result-2"), ALL)

    # Neither the archive nor the log has the compacted record.
    other = make_topic(1)
    place = Place(spark, topics, other, tmp_path / "compacted-lake")
    place.archive("orders", [n for n in ARCHIVED if n != COMPACTED])
    topics.delete_records(other, {0: ARCHIVED.stop - 1})
    names = PAGE.run(chain, place.shown(), {})
    assert "SPLICE_HAND_OVER_DATA.GAP" in str(names["orders"].plan(spark, scan=True))
    PAGE.run(compacted, place.shown(), names)
    assert "SPLICE" not in str(names["compacted"].plan(spark, scan=True))
    PAGE.assert_all_executed()
