# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of damaged checkpoints, and of checkpoints of other sources."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from errors.conditions.world import World, provokes
from servers.waiting import PATIENCE
from splice import query_history
from streams import drain


def readable(path: Path, text: str) -> None:
    """Replace a file of a checkpoint, and delete its checksum file."""
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    path.write_text(text)


def started(world: World) -> dict[str, str]:
    """Run a query over files, and return its options."""
    options = world.files(world.parquet("rows", "id"))
    world.drain(**options)
    return options


def side_log(world: World) -> Path:
    """Return the folder of the side log."""
    return world.folder / "checkpoint" / "sources" / "0" / "splice"


@provokes("SPLICE_CHECKPOINT.CORRUPT")
def corrupt(world: World) -> None:
    options = started(world)
    readable(side_log(world) / "chain-00000000", "v1\ndamaged content\n")
    world.drain(**options)


@provokes("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
def entry_not_found(world: World) -> None:
    options = started(world)
    shutil.rmtree(side_log(world))
    world.drain(**options)


@provokes("SPLICE_CHECKPOINT.NOT_FOUND")
def not_found(world: World) -> None:
    query_history(world.spark, world.path("no-checkpoint"))


@provokes("SPLICE_CHECKPOINT.OTHER_SOURCE")
def other_source(world: World) -> None:
    rows = world.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    drain(rows, world.folder)
    world.drain(**world.files(world.parquet("rows", "id")))


@provokes("SPLICE_CHECKPOINT.SOURCE_CHANGED")
def source_changed(world: World) -> None:
    options = started(world)
    world.drain(**options | {"path": world.parquet("others", "id")})


@provokes("SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
def version(world: World) -> None:
    options = started(world)
    for offset in (world.folder / "checkpoint" / "offsets").glob("[0-9]*"):
        readable(offset, re.sub(r'"v":\d+\}', '"v":99}', offset.read_text()))
    world.drain(**options)


@provokes("SPLICE_CHECKPOINT.STORE_NOT_ATOMIC")
def store_not_atomic(world: World) -> None:
    # A mount table is a file system of Hadoop that Splice does not know.
    mounted = "fs.viewfs.mounttable.default.link./mounted"
    world.spark.conf.set(mounted, world.folder.as_uri())
    rows = world.spark.readStream.format("splice")
    stream = rows.options(**world.files(world.parquet("rows", "id"))).load()
    try:
        query = (
            stream.writeStream.format("noop")
            .option("checkpointLocation", "viewfs:///mounted/checkpoint")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(PATIENCE)
    finally:
        world.spark.conf.unset(mounted)
