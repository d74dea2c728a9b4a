# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of checkpoints without an entry, and of stores for checkpoints."""

from __future__ import annotations

import shutil

from errors.conditions.world import World, provokes
from servers.waiting import PATIENCE
from splice import query_history


@provokes("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
def entry_not_found(world: World) -> None:
    options = world.files(world.parquet("rows", "id"))
    world.drain(**options)
    shutil.rmtree(world.folder / "checkpoint" / "sources" / "0" / "splice")
    world.drain(**options)


@provokes("SPLICE_CHECKPOINT.NOT_FOUND")
def not_found(world: World) -> None:
    query_history(world.spark, world.path("no-checkpoint"))


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
