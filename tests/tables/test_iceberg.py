# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a table of Iceberg: time, tag and branch, deletes, slices of a time transform, and
its stream after a snapshot.

Only the jar of Iceberg has these versions, transforms and offsets.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from splice import HandOver, HybridSource, StreamSource, TableSource
from streams import drain, written
from tables import formats

pytestmark = pytest.mark.skipif(not formats.HAS_ICEBERG, reason=formats.WITHOUT_ICEBERG)

TABLE = "lake.sales.orders"


@pytest.fixture(scope="module")
def times(lake: SparkSession) -> list[str]:
    """A table with three snapshots: rows of three days, then deletes, then another column."""
    lake.sql(
        f"CREATE TABLE {TABLE} (id BIGINT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts)) "
        "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    )
    at = "timestamp_seconds(1767225600 + id * 7200) AS ts"
    lake.range(0, 30, 1, 1).selectExpr("id", at).writeTo(TABLE).append()
    lake.sql(f"ALTER TABLE {TABLE} CREATE TAG closed")
    lake.sql(f"DELETE FROM {TABLE} WHERE id % 5 = 0")
    lake.sql(f"ALTER TABLE {TABLE} ADD COLUMN note STRING")
    rows = lake.range(100, 103, 1, 1).selectExpr(
        "id", "CAST(NULL AS TIMESTAMP) AS ts", "'n' AS note"
    )
    rows.writeTo(TABLE).append()
    snapshots = lake.sql(
        f"SELECT CAST(committed_at AS STRING) AS at FROM {TABLE}.snapshots ORDER BY at"
    )
    return [str(row.at) for row in snapshots.collect()]


FIRST, SECOND = set(range(30)), {n for n in range(30) if n % 5}
THIRD = SECOND | {100, 101, 102}


def read(lake: SparkSession, source: TableSource) -> set[int]:
    """Return the ids of a batch read."""
    found = [row.id for row in source.read(lake).collect()]
    assert len(found) == len(set(found))
    return set(found)


def test_snapshots_and_slices_of_days(lake: SparkSession, times: list[str], tmp_path: Path) -> None:
    orders = TableSource.table(TABLE)
    assert read(lake, orders.build()) == THIRD
    assert read(lake, orders.version_as_of("closed").build()) == FIRST
    assert read(lake, orders.timestamp_as_of(times[1]).build()) == SECOND
    first = lake.sql(f"SELECT snapshot_id FROM {TABLE}.snapshots ORDER BY committed_at").first()
    assert first is not None
    assert read(lake, orders.version_as_of(first.snapshot_id).build()) == FIRST

    # A query that has begun reads its snapshot, in slices of days.
    stream = orders.max_bytes_per_trigger(1).build().read_stream(lake)
    seen: list[set[int]] = []

    def collect(rows: object, batch: int) -> None:
        seen.append({row.id for row in rows.collect()})  # type: ignore[attr-defined]
        if batch == 0:
            lake.sql(f"DELETE FROM {TABLE} WHERE id > 20")

    writer = stream.writeStream.foreachBatch(collect)
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    writer.start().awaitTermination()
    # Days of 12 orders, and the rows without a time.
    days = [{n for n in SECOND if n // 12 == day} for day in range(3)]
    assert seen == [*days, {100, 101, 102}]
    assert read(lake, orders.build()) == {n for n in SECOND if n <= 20}


def test_the_stream_of_a_table_begins_after_the_pinned_snapshot(
    lake: SparkSession, tmp_path: Path
) -> None:
    table = "lake.sales.growing"
    lake.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    insert = f"INSERT INTO {table} SELECT /*+ REPARTITION(3) */ id FROM range"
    lake.sql(f"{insert}(20)")
    lake.sql(f"{insert}(20, 30)")
    history = TableSource.table(table).build()
    stream = StreamSource.table(table).option("streaming-max-files-per-micro-batch", "1").build()
    chain = history.then(stream, hand_over=HandOver.after_version())
    for rows, snapshots in ((30, 0), (45, 1), (60, 3)):
        if snapshots == 1:
            lake.sql(f"{insert}(30, 45)")
        if snapshots == 3:
            lake.sql(f"{insert}(45, 50)")
            lake.sql(f"{insert}(50, 60)")
        drain(chain.read_stream(lake), tmp_path)
        found = sorted(row.id for row in written(lake, tmp_path).collect())
        assert found == list(range(rows))


def test_a_snapshot_that_expires_before_the_switch_is_a_gap(
    lake: SparkSession, tmp_path: Path
) -> None:
    table = "lake.sales.expired"
    lake.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    for n in range(4):
        lake.sql(f"INSERT INTO {table} VALUES ({n})")
    first = lake.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at").first()
    assert first is not None
    history = TableSource.table(table).version_as_of(first.snapshot_id).slice_by("id").slices(1)
    stream = StreamSource.table(table).build()
    source = history.build()

    def chain(on_gap: str | None = None) -> HybridSource:
        builder = HybridSource.builder("history", source)
        return builder.add_source("live", stream, HandOver.after_version(), on_gap=on_gap).build()

    # The first run stops before the switch.
    writer = chain().read_stream(lake).writeStream
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(once=True).start(str(tmp_path / "out")).awaitTermination()
    lake.sql(f"CALL lake.system.expire_snapshots(table => '{table}', older_than => now())")
    with pytest.raises(StreamingQueryException, match="VERSION_EXPIRED"):
        drain(chain().read_stream(lake), tmp_path)
    drain(chain("warn").read_stream(lake), tmp_path)
    assert sorted(row.id for row in written(lake, tmp_path).collect()) == [0, 3]


def test_a_stream_of_a_tag(lake: SparkSession, times: list[str], tmp_path: Path) -> None:
    source = TableSource.table(TABLE).version_as_of("closed").where("id < 9").build()
    drain(source.read_stream(lake), tmp_path)
    assert {row.id for row in written(lake, tmp_path).collect()} == set(range(9))
