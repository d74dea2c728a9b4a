# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Tables without versions: JDBC, a Python data source, a table of a catalog, and a view.

Only a query shows that the plan of a real source can be read in the tasks of another plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from splice import TableSource
from streams import drain, written
from tables.postgresql import Postgresql

IDS = list(range(40))


def streamed(session: SparkSession, source: TableSource, folder: Path) -> list[int]:
    """Drain a stream of a source, and return the sorted ids."""
    query = drain(source.read_stream(session), folder)
    assert query.exception() is None
    return sorted(row.id for row in written(session, folder).collect())


def test_a_table_of_postgresql(spark: SparkSession, postgresql: Postgresql, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(n, n % 4) for n in IDS], "id LONG, day LONG")
    place = {**postgresql.options, "dbtable": "orders"}
    rows.write.format("jdbc").options(**place).save()
    builder = TableSource.format("jdbc").options(place).on_no_version("warn").where("day < 3")
    source = builder.slice_by("id").slices(3).max_bytes_per_trigger(1).build()
    expected = [n for n in IDS if n % 4 < 3]
    assert sorted(row.id for row in source.read(spark).collect()) == expected
    assert streamed(spark, source, tmp_path) == expected


def numbers() -> type[DataSource]:
    """Return a data source with two partitions, which a Python worker receives by value."""

    class Numbers(DataSource):
        @classmethod
        def name(cls) -> str:
            return "numbers"

        def schema(self) -> str:
            return "id LONG, day LONG"

        def reader(self, schema: StructType) -> DataSourceReader:
            return Reader(int(self.options["rows"]))

    class Reader(DataSourceReader):
        def __init__(self, rows: int) -> None:
            self.rows = rows

        def partitions(self) -> list[InputPartition]:
            return [InputPartition(0), InputPartition(1)]

        def read(self, partition: InputPartition) -> Iterator[tuple[int, int]]:
            return ((number, number % 4) for number in range(partition.value, self.rows, 2))

    return Numbers


def test_a_data_source_in_python(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(numbers())
    builder = TableSource.format("numbers").option("rows", len(IDS)).on_no_version("warn")
    source = builder.slice_by("id").slice_every(25).max_bytes_per_trigger(1).build()
    assert streamed(spark, source, tmp_path) == IDS


@pytest.fixture
def sales(spark: SparkSession) -> Iterator[str]:
    """A partitioned table of Parquet files, with a row without a day."""
    rows = spark.createDataFrame(
        [(n, f"day-{n % 4}" if n else None) for n in IDS], "id LONG, day STRING"
    )
    rows.write.partitionBy("day").format("parquet").saveAsTable("sales")
    yield "sales"
    spark.sql("DROP TABLE sales")


def test_a_partitioned_table_and_a_view(spark: SparkSession, sales: str, tmp_path: Path) -> None:
    table = TableSource.table(sales).on_no_version("warn").max_bytes_per_trigger(1).build()
    assert streamed(spark, table, tmp_path / "table") == IDS
    assert len(list((tmp_path / "table" / "checkpoint" / "commits").glob("[0-9]*"))) > 3
    spark.sql(f"CREATE VIEW some_sales AS SELECT id + 100 AS id FROM {sales} WHERE day = 'day-1'")
    try:
        view = TableSource.table("some_sales").on_no_version("warn").slice_by("id").slices(2)
        expected = [n + 100 for n in IDS if n % 4 == 1]
        assert streamed(spark, view.build(), tmp_path / "view") == expected
    finally:
        spark.sql("DROP VIEW some_sales")
