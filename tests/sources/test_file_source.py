# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The file source as a stream and as a batch."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from servers.waiting import PATIENCE
from splice import FileSource
from streams import drain, written

ROWS = 200
SCHEMA = "id BIGINT, name STRING"


def numbers(spark: SparkSession, path: Path, form: str, first: int = 0, rows: int = ROWS) -> Path:
    """Write numbered rows as four files."""
    frame = spark.range(first, first + rows).selectExpr("id", "concat('n', id) AS name")
    if form == "text":
        frame = frame.selectExpr("concat(id, ',', name) AS value")
    frame.repartition(4).write.format(form).save(str(path))
    return path


def test_formats(spark: SparkSession, tmp_path: Path) -> None:
    expected = [(n, f"n{n}") for n in range(ROWS)]
    for form in ("parquet", "orc", "json", "csv"):
        source = FileSource.builder(form, numbers(spark, tmp_path / form, form)).schema(SCHEMA)
        assert sorted(map(tuple, source.build().read(spark).collect())) == expected
    drain(source.build().read_stream(spark), tmp_path)
    assert sorted(map(tuple, written(spark, tmp_path).collect())) == expected
    text = FileSource.builder("text", numbers(spark, tmp_path / "text", "text")).build()
    lines = [row.value for row in text.read(spark).collect()]
    assert sorted(lines) == sorted(f"{n},{name}" for n, name in expected)


def test_format_options_reach_the_format(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;name\n1;x\n2;y\n")
    source = (
        FileSource.builder("csv", tmp_path / "a.csv")
        .schema(StructType([StructField("id", LongType()), StructField("name", StringType())]))
        .options(header=True, sep=";")
        .build()
    )
    assert sorted(map(tuple, source.read(spark).collect())) == [(1, "x"), (2, "y")]


def test_several_paths_and_patterns(spark: SparkSession, tmp_path: Path) -> None:
    for month, first in [("2026-01", 0), ("2026-02", 1000), ("2025-12", 5000)]:
        numbers(spark, tmp_path / month, "parquet", first, 10)
    numbers(spark, tmp_path / "more,of it", "parquet", 9000, 10)
    source = FileSource.builder("parquet", tmp_path / "2026-*", tmp_path / "more,of it").build()
    found = sorted(row.id for row in source.read(spark).collect())
    assert found == [*range(10), *range(1000, 1010), *range(9000, 9010)]


def test_partition_columns_and_metadata_columns(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(20).selectExpr("id", "id % 2 AS half")
    rows.coalesce(1).write.partitionBy("half").parquet(str(tmp_path / "in"))
    frame = FileSource.builder("parquet", tmp_path / "in").build().read(spark)
    assert frame.columns == ["id", "half"]
    shown = frame.selectExpr(
        "id", "half", "_file_path", "_file_size", "_file_modification_time", "_file_block_start"
    ).collect()
    assert all(row.half == row.id % 2 and f"half={row.half}" in row["_file_path"] for row in shown)
    assert all(row["_file_size"] > 0 and row["_file_block_start"] == 0 for row in shown)
    assert all(row["_file_modification_time"] is not None for row in shown)


def test_later_files_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    path = numbers(spark, tmp_path / "in", "parquet", 0, 10)
    source = FileSource.builder("parquet", path).option("maxFilesPerTrigger", 1).build()
    query = drain(source.read_stream(spark), tmp_path)
    assert len([r for r in query.recentProgress if r["numInputRows"]]) == 4
    spark.range(100, 110).selectExpr("id", "'late' AS name").write.mode("append").parquet(str(path))
    drain(source.read_stream(spark), tmp_path)
    assert sorted(row.id for row in written(spark, tmp_path).collect()) == list(range(10))


def test_a_file_changed_after_it_was_listed(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.mkdir()
    (path / "a.csv").write_text("1,x\n")
    source = FileSource.builder("csv", path).schema(SCHEMA).option("maxFilesPerTrigger", 1).build()
    # The list is stored before the first batch, so a later batch reads a changed file.
    (path / "b.csv").write_text("2,y\n")
    stream = source.read_stream(spark)

    def write(frame: DataFrame, _batch: int) -> None:
        frame.count()
        (path / "b.csv").write_text("3,changed\n")

    query = stream.writeStream.foreachBatch(write)
    checkpoint = query.option("checkpointLocation", str(tmp_path / "checkpoint"))
    with pytest.raises(
        Exception, match=r"(?s)SPLICE_FILES_DATA.FILE_CHANGED.*b\.csv.*onFileChanged"
    ):
        checkpoint.trigger(availableNow=True).start().awaitTermination(PATIENCE)
