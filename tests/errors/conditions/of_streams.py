# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of streams of Spark."""

from __future__ import annotations

from errors.conditions.world import World, provokes


@provokes("SPLICE_STREAM.NOT_READABLE", "TABLE_OR_VIEW_NOT_FOUND", "table 'no_such_table'")
def stream_not_readable(world: World) -> None:
    world.read(source="stream", table="no_such_table")


@provokes("SPLICE_STREAM_OPTION.END_NOT_SUPPORTED", "'bounded' is 'true'")
def end_not_supported(world: World) -> None:
    world.drain(source="stream", format="rate", bounded="true")


@provokes("SPLICE_STREAM_OPTION.FORMAT_NOT_FOUND", "'aws-kinesis'")
def format_not_found(world: World) -> None:
    world.read(source="stream", format="aws-kinesis")


@provokes("SPLICE_STREAM_OPTION.FORMAT_NOT_SUPPORTED", "'source' = 'files'", "'old.format'")
def format_not_supported(world: World) -> None:
    live = world.unused_kafka()
    world.read(
        source="hybrid",
        legs="old,live",
        **{"old.source": "stream", "old.format": "parquet", "old.bounded": "true"},
        **{f"live.{name}": value for name, value in live.items()},
    )
