# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Hand-over from a table of Delta, or from files of Spark's sink, to the topic, each row once.

Only a real table and a real sink show that the rows of the hand-over are those of the version.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from orders import HISTORY_SELECT, LIVE_SELECT, archive, assert_each_once, ids, live, orders
from servers.kafka.topics import KafkaTopics
from splice import FileSource, HandOver, TableSource
from streams import drain, written
from tables import formats

pytestmark = pytest.mark.skipif(not formats.HAS_DELTA, reason=formats.WITHOUT_DELTA)

KEY = "CAST(key AS STRING) AS order_id"
EARLIER, LATER = {0: 10, 1: 4, 2: 0}, {0: 14, 1: 9, 2: 6}


def test_the_log_begins_after_the_pinned_version(
    lake: SparkSession, topics: KafkaTopics, topic: str, tmp_path: Path
) -> None:
    table = str(tmp_path / "table")
    for name, until in (("earlier", EARLIER), ("later", LATER)):
        archive(topics, topic, tmp_path / name, until)
        rows = lake.read.parquet(str(tmp_path / name))
        rows.write.format("delta").mode("overwrite").save(table)
    history = TableSource.format("delta").option("path", table).version_as_of(0)
    chain = (
        history.slice_by("offset")
        .slice_every(4)
        .max_bytes_per_trigger(1)
        .build()
        .then(
            live(topics, topic),
            hand_over=HandOver.offsets(),
            select=(HISTORY_SELECT, LIVE_SELECT),
        )
    )
    drain(chain.read_stream(lake), tmp_path)
    assert_each_once(ids(written(lake, tmp_path)), range(60))
    topics.produce(topic, orders(range(60, 70), 3))
    drain(chain.read_stream(lake), tmp_path)
    assert_each_once(ids(written(lake, tmp_path)), range(70))


def test_the_log_begins_where_the_writing_query_ended(
    lake: SparkSession, topics: KafkaTopics, topic: str, tmp_path: Path
) -> None:
    table, checkpoint = str(tmp_path / "table"), str(tmp_path / "writer")
    source = live(topics, topic, startingOffsets="earliest")
    for numbers in (range(60, 70), range(70, 80)):
        rows = source.read_stream(lake).selectExpr(KEY)
        sink = rows.writeStream.format("delta").option("checkpointLocation", checkpoint)
        sink.trigger(availableNow=True).start(table).awaitTermination()
        topics.produce(topic, orders(numbers, 3))
    history = TableSource.format("delta").option("path", table).version_as_of(0).build()
    rule = HandOver.writer_checkpoint(checkpoint)
    chain = history.then(live(topics, topic), hand_over=rule, select=("order_id", KEY))
    drain(chain.read_stream(lake), tmp_path)
    assert_each_once(ids(written(lake, tmp_path)), range(80))
    assert lake.read.format("delta").load(table).count() == 70


def test_the_log_begins_where_the_query_that_wrote_files_ended(
    spark: SparkSession, topics: KafkaTopics, topic: str, tmp_path: Path
) -> None:
    folder, checkpoint = str(tmp_path / "files"), str(tmp_path / "writer")
    source = live(topics, topic, startingOffsets="earliest")

    def write() -> None:
        sink = source.read_stream(spark).selectExpr(KEY).writeStream.format("parquet")
        sink = sink.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        sink.start(folder).awaitTermination()

    write()
    topics.produce(topic, orders(range(60, 70), 3))
    write()
    rule = HandOver.writer_checkpoint(checkpoint)
    history = FileSource.builder("parquet", folder).build()
    chain = history.then(live(topics, topic), hand_over=rule, select=("order_id", KEY))
    topics.produce(topic, orders(range(70, 80), 3))
    stream = chain.read_stream(spark)
    # The first run stops before the switch. The files of the next batch are not in its list.
    writer = stream.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(once=True).start(str(tmp_path / "out")).awaitTermination()
    write()
    drain(stream, tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), range(80))
