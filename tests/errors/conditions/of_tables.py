# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of tables that Spark reads without further jars."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from errors.conditions.world import World, provokes


def plain(world: World, columns: str = "id;id % 4 AS day", **more: str) -> dict[str, str]:
    """Write a folder of Parquet files, and return the options of a source of this folder."""
    folder = world.path("rows")
    if not Path(folder).exists():
        world.parquet("rows", columns, rows=8)
    options = {"source": "table", "format": "parquet", "path": folder, "onNoVersion": "warn"}
    return options | more


@provokes("SPLICE_TABLE.TABLE_NOT_FOUND", "sales_none", "'table'")
def table_not_found(world: World) -> None:
    world.read(source="table", table="sales_none")


@provokes("SPLICE_TABLE.FORMAT_NOT_FOUND", r"nosuch\.`/lake`", "--packages", "'format'")
def format_not_found(world: World) -> None:
    world.read(source="table", format="nosuch", path="/lake")


@provokes("SPLICE_TABLE.DRIVER_NOT_FOUND", "'driver'", "--packages")
def driver_not_found(world: World) -> None:
    url = "jdbc:nosuch://127.0.0.1:1/orders"
    world.read(source="table", format="jdbc", url=url, dbtable="orders")


@provokes("SPLICE_TABLE.TABLE_NOT_READABLE", "'format'", "Reason: ")
def table_not_readable(world: World) -> None:
    folder = world.write("rows/a.parquet", "these bytes are not Parquet")
    world.read(source="table", format="parquet", path=folder, onNoVersion="warn")


@provokes("SPLICE_TABLE.NO_VERSIONS", r"parquet\.`.*rows`", "'onNoVersion' to 'warn'")
def no_versions(world: World) -> None:
    world.read(**plain(world, onNoVersion="fail"))


@provokes("SPLICE_TABLE.PLAN_NOT_SUPPORTED", "the operation Aggregate")
def plan_not_supported(world: World) -> None:
    world.parquet("rows", "id;id % 4 AS day")
    sql = f"SELECT day, count(*) AS rows FROM parquet.`{world.path('rows')}` GROUP BY day"
    world.spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW counted AS {sql}")
    world.drain(source="table", table="counted", onNoVersion="warn")


@provokes("SPLICE_TABLE.FILE_NOT_FOUND", "VACUUM", "history.expire", "Reason: ")
def file_not_found(world: World) -> None:
    options = plain(world)
    rows = world.spark.readStream.format("splice").options(**options).load()

    def after_the_plan(frame: DataFrame, _: int) -> None:
        shutil.rmtree(options["path"])
        frame.collect()

    query = rows.writeStream.foreachBatch(after_the_plan)
    query = query.option("checkpointLocation", world.path("checkpoint")).trigger(availableNow=True)
    query.start().awaitTermination()


@provokes("SPLICE_TABLE_OPTION.COLUMN_NOT_FOUND", "'sliceBy' = 'month'", "Columns: id, day")
def column_not_found(world: World) -> None:
    world.read(**plain(world, sliceBy="month", slices="4"))


@provokes("SPLICE_TABLE_OPTION.COLUMN_WITHOUT_ORDER", "'sliceBy' = 'day'", "MAP<")
def column_without_order(world: World) -> None:
    world.read(**plain(world, "id;map(id, id) AS day", sliceBy="day", slices="4"))


@provokes("SPLICE_TABLE_OPTION.COLUMN_WITHOUT_SCALE", "'sliceBy' = 'day'", "STRING")
def column_without_scale(world: World) -> None:
    world.read(**plain(world, "id;CAST(id AS STRING) AS day", sliceBy="day", slices="4"))


@provokes("SPLICE_TABLE_OPTION.INVALID_WHERE", "'where' = 'nosuch = 1'", "nosuch")
def invalid_where(world: World) -> None:
    world.read(**plain(world, where="nosuch = 1"))


@provokes("SPLICE_TABLE_OPTION.INVALID_WIDTH", "'sliceEvery' does not fit 'sliceBy' = 'id'")
def invalid_width(world: World) -> None:
    world.read(**plain(world, sliceBy="id", sliceEvery="1d"))


@provokes("SPLICE_TABLE_OPTION.TOO_MANY_SLICES", "'sliceEvery'", "more than 10000 slices")
def too_many_slices(world: World) -> None:
    world.read(**plain(world, "id;id * 100000 AS day", sliceBy="day", sliceEvery="1"))


@provokes("SPLICE_TABLE_OPTION.VERSION_NOT_SUPPORTED", "'versionAsOf'", "the format parquet")
def version_not_supported(world: World) -> None:
    world.read(**plain(world, versionAsOf="3"))


@provokes("SPLICE_TABLE_OPTION.WIDTH_NOT_SET", "'sliceBy' = 'id'", "'sliceEvery'", "'slices'")
def width_not_set(world: World) -> None:
    world.read(**plain(world, sliceBy="id"))
