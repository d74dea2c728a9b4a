# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Classes of the errors that a user of PySpark catches."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import QueryExecutionException
from pyspark.sql import SparkSession

from orders import live
from refusals import assert_says
from servers.kafka.topics import KafkaTopics
from servers.waiting import PATIENCE
from splice import FileSource, KafkaSource, OptionError, SourceError


def test_a_builder_raises_the_same_error_at_build(spark: SparkSession) -> None:
    builder = KafkaSource.builder().bootstrap_servers("127.0.0.1:1").topics("t")
    with pytest.raises(OptionError) as raised:
        builder.option("startingOffset", "earliest").build()
    assert_says(str(raised.value), "mean 'startingOffsets'")
    assert (raised.value.getCondition() or "").startswith("SPLICE_OPTION.UNKNOWN")


def test_a_path_that_does_not_exist(spark: SparkSession, tmp_path: Path) -> None:
    missing = FileSource.builder("parquet", tmp_path / "none").build()
    with pytest.raises(SourceError) as raised:
        missing.read(spark)
    assert raised.value.getCondition() == "SPLICE_FILES.PATH_NOT_FOUND"
    assert_says(str(raised.value), str(tmp_path / "none"))


def test_an_error_at_planning_is_an_error_of_pyspark(
    spark: SparkSession, topics: KafkaTopics
) -> None:
    rows = live(topics, "no-such-topic").read(spark)
    for action in (rows.count, rows.collect, rows.toArrow):
        with pytest.raises(QueryExecutionException) as raised:
            action()
        assert raised.value.getCondition() == "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"
        assert_says(
            str(raised.value), "Topic no-such-topic does not exist", topics.bootstrap_servers
        )


def test_writing_a_stream(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> None:
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    writer = rows.writeStream.format("splice").options(**live(topics, "orders").options())
    writer = writer.option("checkpointLocation", str(tmp_path))
    with pytest.raises(Exception, match="Splice does not write") as raised:
        writer.start().awaitTermination(PATIENCE)
    assert_says(str(raised.value), "Splice does not write", r'format\("kafka"\)')
