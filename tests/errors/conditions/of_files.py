# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of file sources."""

from __future__ import annotations

import shutil
from pathlib import Path

from errors.conditions.world import World, provokes
from servers.waiting import PATIENCE
from streams import drain, start


def own_checksums_removed(folder: str) -> None:
    """Delete the checksum files of a local folder, so that a changed file is readable."""
    for checksum in Path(folder).rglob(".*.crc"):
        checksum.unlink()


@provokes("SPLICE_FILES.FILE_SYSTEM_NOT_FOUND")
def file_system(world: World) -> None:
    world.read(**world.files("nosuch://bucket/orders"))


@provokes("SPLICE_FILES.NO_FILES")
def no_files(world: World) -> None:
    Path(world.path("empty")).mkdir()
    world.drain(**world.files(world.path("empty"), schema="id BIGINT", onEmpty="fail"))


@provokes("SPLICE_FILES.SCHEMA_NOT_FOUND")
def schema_not_found(world: World) -> None:
    Path(world.path("empty")).mkdir()
    world.read(**world.files(world.path("empty")))


def one_file_at_a_time(world: World, path: str, **more: str) -> dict[str, str]:
    """Return options of a CSV source whose batches have one file each."""
    options = {"source": "files", "format": "csv", "path": path, "header": "true"}
    return options | {"orderBy": "path", "maxFilesPerTrigger": "1"} | more


@provokes("SPLICE_FILES.FILE_NOT_FOUND")
def file_not_found(world: World) -> None:
    world.write("rows/a.csv", "id\n1\n")
    last = world.write("rows/b.csv", "id\n2\n")
    options = one_file_at_a_time(world, world.path("rows"), schema="id INT")
    world.start_and_stop(**options)
    Path(last).unlink()
    world.drain(**options)


@provokes("SPLICE_FILES_DATA.FILE_CHANGED")
def file_changed(world: World) -> None:
    world.write("rows/a.csv", "id\n1\n")
    last = world.write("rows/b.csv", "id\n2\n")
    options = one_file_at_a_time(world, world.path("rows"), schema="id INT")
    world.start_and_stop(**options)
    Path(last).write_text("id\n2\n3\n")
    world.drain(**options)


@provokes("SPLICE_FILES_DATA.FILE_NOT_READABLE")
def file_not_readable(world: World) -> None:
    world.write("rows/a.csv", "id\nx\n")
    world.drain(**one_file_at_a_time(world, world.path("rows"), schema="id INT", mode="FAILFAST"))


@provokes("SPLICE_FILES_DATA.COLUMN_CHANGED")
def column_changed(world: World) -> None:
    world.write("rows/a.csv", "id\n1\n")
    world.write("rows/b.csv", "id\n2\n")
    options = one_file_at_a_time(world, world.path("rows"), inferSchema="true")
    world.start_and_stop(**options)
    world.write("rows/c.csv", "id\n1.5\n")
    world.drain(**options)


@provokes("SPLICE_FILES_OPTION.STATISTICS_NOT_FOUND")
def statistics(world: World) -> None:
    rows = world.spark.sql("SELECT timestamp_millis(0) AS at")
    # Spark writes timestamps without statistics by default.
    rows.write.parquet(world.path("rows"))
    world.drain(**world.files(world.path("rows"), orderBy="eventTime:at"))


@provokes("SPLICE_FILES_OPTION.TIME_COLUMN_NOT_SUPPORTED")
def time_column(world: World) -> None:
    world.spark.range(1).write.parquet(world.path("rows"))
    world.drain(**world.files(world.path("rows"), orderBy="eventTime:id"))


@provokes("SPLICE_FILES_OPTION.READER_OPTION_CHANGED")
def reader_option(world: World) -> None:
    world.write("rows/a.csv", "id\n1\n")
    world.write("rows/b.csv", "id\n2\n")
    options = one_file_at_a_time(world, world.path("rows"), schema="id STRING")
    world.start_and_stop(**options)
    world.drain(**options | {"sep": ";"})


def sink_folder(world: World) -> str:
    """Write a folder with Spark's streaming file sink."""
    rows = world.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    sink = world.folder / "sink"
    query = drain(rows, sink)
    assert query.exception() is None
    return str(sink / "out")


@provokes("SPLICE_FILES_DATA.INVALID_SINK_LOG")
def sink_log(world: World) -> None:
    path = sink_folder(world)
    log = Path(path) / "_spark_metadata"
    own_checksums_removed(str(log))
    (log / "0").write_text("v1\n{")
    world.read(**world.files(path))


@provokes("SPLICE_FILES_DATA.SINK_FOLDER_MOVED")
def sink_moved(world: World) -> None:
    path = sink_folder(world)
    shutil.move(path, world.path("moved"))
    world.read(**world.files(world.path("moved")))


@provokes("SPLICE_FILES_OPTION.DUPLICATE_COLUMN")
def duplicate_column(world: World) -> None:
    world.write("rows/a.json", '{"a":1,"A":2}')
    world.read(source="files", format="json", path=world.path("rows"))


@provokes("SPLICE_FILES_OPTION.TABLE_FORMAT_NOT_SUPPORTED")
def table_format(world: World) -> None:
    path = world.parquet("rows", "id")
    world.write("rows/_delta_log/00000000000000000000.json", "{}")
    world.read(**world.files(path))


def watched(world: World, **more: str) -> dict[str, str]:
    """Return options of a source that watches a folder of CSV files."""
    options = {"source": "files", "format": "csv", "path": world.path("rows"), "discovery": "watch"}
    return options | {"schema": "id INT", "discoveryInterval": "50ms"} | more


@provokes("SPLICE_FILES.LISTINGS_FAILED", "'discoveryTimeout'", "SPLICE_FILES.PATH_NOT_FOUND")
def listings_failed(world: World) -> None:
    world.write("rows/a.csv", "1\n")
    options = watched(world, discoveryTimeout="100ms")
    stream = world.spark.readStream.format("splice").options(**options).load()
    query = start(stream, world.folder)
    try:
        query.processAllAvailable()
        shutil.rmtree(world.path("rows"))
        query.awaitTermination(PATIENCE)
    finally:
        query.stop()


@provokes("SPLICE_FILES_DATA.INVALID_PARTITION", "day=unknown")
def invalid_partition(world: World) -> None:
    options = watched(world, schema="id INT, day INT", partitionOrder="day")
    world.write("rows/day=1/a.csv", "1\n")
    world.drain(**options)
    world.write("rows/day=unknown/b.csv", "2\n")
    world.drain(**options)


@provokes("SPLICE_FILES_DATA.LISTED_FILE_CHANGED", r"a\.csv", "'minFileAge'", "'onFileChanged'")
def listed_file_changed(world: World) -> None:
    file = Path(world.write("rows/a.csv", "1\n"))
    world.drain(**watched(world, minFileAge="0s"))
    file.write_text("1\n2\n")
    world.drain(**watched(world))


@provokes("SPLICE_FILES_OPTION.DISCOVERY_CHANGED", "'discovery' is 'watch', and was 'list'")
def mode_changed(world: World) -> None:
    world.write("rows/a.csv", "1\n")
    world.drain(**one_file_at_a_time(world, world.path("rows"), schema="id INT", header="false"))
    world.drain(**watched(world))
