# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A Python data source as a leg before files and after files.

No lower level can show the calls between Splice's jar and the Python process of the stream: the
offsets as dictionaries, the fixed end, and the state of the process after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from splice import FileSource, HandOver, StreamSource
from streams import drain, written

datasource = pytest.importorskip("pyspark.sql.streaming.datasource", reason="Spark 4.2 or later")


def register(spark: SparkSession) -> None:
    """Register the format `numbers`, whose option `file` has the number of its rows."""
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    # Python workers cannot import this module, and nested classes need no import.
    class Numbers(InputPartition):
        def __init__(self, first: int, until: int) -> None:
            super().__init__((first, until))

    class Reader(DataSourceStreamReader, datasource.SupportsTriggerAvailableNow):  # type: ignore[misc,name-defined]
        def __init__(self, file: str) -> None:
            self.file = file
            self.end: int | None = None

        def size(self) -> int:
            with open(self.file) as content:  # noqa: PTH123
                return int(content.read())

        def initialOffset(self) -> dict[str, int]:  # noqa: N802
            return {"at": 0}

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            self.end = self.size()

        def latestOffset(self, start: dict[str, int], limit: object) -> dict[str, int]:  # noqa: N802
            end = self.size() if self.end is None else self.end
            return {"at": max(start["at"], min(end, start["at"] + 4))}

        def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
            middle = (start["at"] + end["at"]) // 2
            return [Numbers(start["at"], middle), Numbers(middle, end["at"])]

        def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
            first, until = partition.value
            yield from ((n,) for n in range(first, until))

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return "numbers"

        def schema(self) -> str:
            return "id BIGINT"

        def streamReader(self, schema: object) -> Reader:  # noqa: N802
            return Reader(self.options["file"])

    spark.dataSource.register(Source)


def ids(spark: SparkSession, folder: Path) -> list[int]:
    """Return the ids that the queries of a folder have written."""
    return sorted(row.id for row in written(spark, folder).collect())


def test_a_python_data_source_ends_and_files_follow(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    size = tmp_path / "size"
    size.write_text("10")
    spark.range(100, 110).write.parquet(str(tmp_path / "files"))
    numbers = StreamSource.builder("numbers").option("file", size).bounded().build()
    files = FileSource.builder("parquet", tmp_path / "files").build()
    chain = numbers.then(files, names=("numbers", "files"))
    drain(chain.read_stream(spark), tmp_path)
    assert ids(spark, tmp_path) == [*range(10), *range(100, 110)]
    # The ended leg needs neither its rows nor its file.
    size.unlink()
    drain(chain.read_stream(spark), tmp_path)
    assert ids(spark, tmp_path) == [*range(10), *range(100, 110)]


def test_a_python_data_source_continues_after_files(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    size = tmp_path / "size"
    size.write_text("10")
    spark.range(0, 7).write.parquet(str(tmp_path / "files"))

    def after_the_files(_: Mapping[str, Any]) -> dict[str, Any]:
        return {"position": {"at": 7}}

    files = FileSource.builder("parquet", tmp_path / "files").build()
    numbers = StreamSource.builder("numbers").option("file", size).build()
    chain = files.then(numbers, hand_over=HandOver.custom(after_the_files))
    drain(chain.read_stream(spark), tmp_path)
    assert ids(spark, tmp_path) == [*range(10)]
    for rows in (15, 16):
        size.write_text(str(rows))
        drain(chain.read_stream(spark), tmp_path)
        assert ids(spark, tmp_path) == [*range(rows)]
