# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of options, leg names, SELECT lists and columns of legs."""

from __future__ import annotations

from errors.conditions.world import World, provokes


@provokes("SPLICE_OPTION.UNKNOWN")
def unknown(world: World) -> None:
    world.load(**world.unused_kafka(startingOffset="earliest"))


@provokes("SPLICE_OPTION.INVALID_VALUE")
def invalid_value(world: World) -> None:
    world.load(**world.unused_kafka(maxOffsetsPerTrigger="many"))


@provokes("SPLICE_OPTION.MISSING")
def missing(world: World) -> None:
    world.load(source="kafka", subscribe="orders")


@provokes("SPLICE_OPTION.CONFLICT")
def conflict(world: World) -> None:
    world.load(**world.unused_kafka(subscribePattern="o.*"))


@provokes("SPLICE_SOURCE.WRITE_NOT_SUPPORTED")
def write(world: World) -> None:
    writer = world.spark.range(1).write.format("splice").options(**world.unused_kafka())
    writer.mode("append").save()


@provokes("SPLICE_HYBRID.INVALID_LEG_NAME")
def leg_name(world: World) -> None:
    world.load(**world.unused_chain(legs="history,2live"))


@provokes("SPLICE_HYBRID.NESTED_HYBRID")
def nested(world: World) -> None:
    world.load(**world.unused_chain() | {"live.source": "hybrid"})


@provokes("SPLICE_HYBRID.UNBOUNDED_LEG")
def unbounded(world: World) -> None:
    options = {f"first.{name}": value for name, value in world.unused_kafka().items()}
    world.load(**world.unused_chain(legs="first,history,live", **options))


def legs(world: World, first: str, then: str, **more: str) -> None:
    """Drain a hybrid of two folders of files with these SELECT lists."""
    path = world.parquet("rows", "id;CAST(id AS STRING) AS name")
    of = {"source": "files", "format": "parquet", "path": path}
    options = {f"{leg}.{name}": value for leg in ("first", "next") for name, value in of.items()}
    selects = {"first.select": first, "next.select": then}
    world.drain(source="hybrid", legs="first,next", **options, **selects, **more)


@provokes("SPLICE_SELECT.INVALID_EXPRESSION")
def invalid_expression(world: World) -> None:
    legs(world, "id, nam", "id, name")


@provokes("SPLICE_SELECT.EXPRESSION_NOT_SUPPORTED")
def expression_not_supported(world: World) -> None:
    legs(world, "id, rand() AS name", "id, name")


@provokes("SPLICE_SELECT.NOT_A_LIST")
def not_a_list(world: World) -> None:
    legs(world, "id, name FROM x", "id, name")


@provokes("SPLICE_SCHEMA.COLUMN_NOT_FOUND")
def column_not_found(world: World) -> None:
    legs(world, "id, name", "id, name", schema="id BIGINT, name STRING, amount DOUBLE")


@provokes("SPLICE_SCHEMA.COLUMN_TYPE_MISMATCH")
def column_type(world: World) -> None:
    legs(world, "id, name", "CAST(id AS STRING) AS id, name")


@provokes("SPLICE_SCHEMA.DUPLICATE_COLUMN")
def duplicate_column(world: World) -> None:
    legs(world, "id, name, name", "id, name")


@provokes("SPLICE_SCHEMA.EXTRA_COLUMN")
def extra_column(world: World) -> None:
    legs(world, "id, name", "id")


@provokes("SPLICE_SCHEMA.RESERVED_COLUMN")
def reserved_column(world: World) -> None:
    legs(world, "id, name AS _leg", "id, name AS _leg")


@provokes("SPLICE_HYBRID.REMOVED_LEG")
def removed_leg(world: World) -> None:
    for name in ("first/a", "first/b", "next/a"):
        world.write(f"{name}.csv", "id\n1\n")
    of = {"source": "files", "format": "csv", "header": "true", "schema": "id INT"}
    options = {"source": "hybrid", "legs": "first,next"}
    for leg in ("first", "next"):
        options |= {f"{leg}.{name}": value for name, value in of.items()}
        options |= {f"{leg}.path": world.path(leg), f"{leg}.maxFilesPerTrigger": "1"}
    world.drain(**options)
    # The log of offsets ends in the removed leg, as if its newer part had been deleted.
    for part in ("offsets", "commits"):
        for file in (world.folder / "checkpoint" / part).iterdir():
            if file.name.strip(".").removesuffix(".crc") not in ("0", "metadata"):
                file.unlink()
    kept = {name: value for name, value in options.items() if not name.startswith("first.")}
    world.drain(**kept | {"legs": "next"})
