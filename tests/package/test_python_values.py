# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Values of Python as options, as the JVM reads them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from orders import HISTORY_SELECT, LIVE_SELECT, assert_each_once, history, ids, live
from servers.kafka.topics import KafkaTopics
from splice import FileSource, HandOver, KafkaSource, OptionError, SourceError
from splice._internal.values import ddl
from streams import drain, written


def test_spark_parses_the_schema(spark: SparkSession) -> None:
    inner = StructType([StructField("x-y", StringType(), False, {"comment": "it's \\ one"})])
    schema = StructType(
        [
            StructField("a`b c", LongType(), False, {"comment": "id 'of' it"}),
            StructField("list", ArrayType(inner)),
            StructField("map", MapType(StringType(), ArrayType(DoubleType()))),
            StructField("struct", inner),
        ]
    )
    assert StructType.fromDDL(ddl(schema)) == schema
    assert spark.createDataFrame([], schema).schema == schema


def test_a_topic_with_python_values(spark: SparkSession, topics: KafkaTopics, topic: str) -> None:
    amount = StructType([StructField("amount", DoubleType())])
    source = (
        KafkaSource.builder()
        .bootstrap_servers(topics.bootstrap_servers.split(","))
        .topics([topic])
        .json_values(amount)
        .option("discoveryInterval", timedelta(seconds=30))
        .properties({"request.timeout.ms": timedelta(seconds=20)})
        .option("startingTimestamp", datetime(2026, 1, 1, 0, 0, 30, tzinfo=timezone.utc))
        .ending_offsets(datetime(2026, 1, 1, 0, 0, 50, tzinfo=timezone.utc))
        .build()
    )
    rows = source.read(spark)
    assert rows.schema["value"].dataType == amount
    assert sorted(row.amount for row in rows.select("value.amount").collect()) == [
        number / 4 for number in range(30, 50)
    ]


def test_files_with_python_values(spark: SparkSession, topic: str, history_path: Path) -> None:
    def count(builder: object) -> int:
        assert isinstance(builder, type(base))
        return builder.build().read(spark).count()

    schema = StructType([StructField("order_id", StringType())])
    base = FileSource.builder("parquet", [history_path]).schema(schema)
    assert base.build().read(spark).columns == ["order_id"]
    hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    assert count(base.option("modifiedAfter", hour_ago)) == 30
    assert count(base.option("modifiedBefore", hour_ago)) == 0


def test_then_reads_each_row_once(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    chain = history(history_path).then(
        live(topics, topic), hand_over=HandOver.offsets(), select=(HISTORY_SELECT, LIVE_SELECT)
    )
    drain(chain.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), range(60))


def test_a_chain_of_three_by_then(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path
) -> None:
    columns = {"topic": "topic", "partition": "partition", "offset": "offset"}
    first = history(history_path)
    with_columns = first.then(
        first, names=("old", "new"), select="order_id", log_columns=(columns, columns)
    )
    chain = with_columns.then(
        live(topics, topic),
        "live",
        hand_over=HandOver.offsets(),
        select="CAST(key AS STRING) AS order_id",
        on_duplicates="warn",
    )
    assert [leg.name for leg in chain.plan(spark).legs] == ["old", "new", "live"]
    with pytest.raises(OptionError, match="no later leg begins by the offsets"):
        with_columns.plan(spark)


def test_errors_of_the_jvm_have_condition_and_parameters(spark: SparkSession) -> None:
    source = FileSource.builder("parquet", "/none")
    with pytest.raises(OptionError) as built:
        source.option("maxFilesPerTriger", 1).build()
    assert built.value.getCondition() == "SPLICE_OPTION.UNKNOWN"
    assert built.value.getSqlState() == "42616"
    assert (built.value.getMessageParameters() or {})["option"] == "maxFilesPerTriger"
    with pytest.raises(SourceError) as read:
        source.build().read(spark)
    assert read.value.getCondition() == "SPLICE_FILES.PATH_NOT_FOUND"
    assert read.value.getSqlState()
    assert read.value.getMessageParameters()
    invalid = source._make()
    invalid._options = invalid._options.updated({"slots": "many"})
    with pytest.raises(OptionError) as loaded:
        invalid.read(spark)
    assert (loaded.value.getCondition() or "").startswith("SPLICE_OPTION.")
    assert loaded.value.getMessageParameters()
    assert "JVM stacktrace" not in str(loaded.value)
