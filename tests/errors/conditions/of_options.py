# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of options, leg names, SELECT lists and columns of legs."""

from __future__ import annotations

from errors.conditions.world import World, provokes


def kafka(**more: str) -> dict[str, str]:
    """Return options of a Kafka source whose brokers no request reaches."""
    return {"source": "kafka", "kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "t"} | more


def hybrid(**more: str) -> dict[str, str]:
    """Return options of a hybrid of files and a topic; ``__`` replaces the dot of a name."""
    options = {"source": "hybrid", "legs": "history,live", "history.source": "files"}
    options |= {"history.format": "parquet", "history.path": "/nowhere"}
    options |= {f"live.{name}": value for name, value in kafka().items()}
    return options | {name.replace("__", "."): value for name, value in more.items()}


FILES = {"source": "files", "format": "parquet", "path": "/nowhere"}
TWO_FOLDERS = {
    "source": "hybrid",
    "legs": "first,next",
    **{f"{leg}.{name}": value for leg in ("first", "next") for name, value in FILES.items()},
}

REJECTED: list[tuple[dict[str, str], list[str]]] = [
    (
        kafka(startingOffset="earliest"),
        ["SPLICE_OPTION.UNKNOWN", "'startingOffset' is unknown", "mean 'startingOffsets'"],
    ),
    (
        hybrid(live__maxOffsetPerTrigger="5"),
        ["'live.maxOffsetPerTrigger' is unknown", "mean 'live.maxOffsetsPerTrigger'"],
    ),
    (hybrid(lives__subscribe="t"), ["'lives.subscribe' is unknown", "'live.subscribe'"]),
    (
        kafka(source="kafak"),
        ["'kafak' is not a valid value of option 'source'", "files", "kafka", "hybrid"],
    ),
    (
        {"source": "kafka", "subscribe": "t"},
        ["SPLICE_OPTION.MISSING", "'kafka.bootstrap.servers' is missing"],
    ),
    ({"source": "files", "format": "parquet"}, ["'path' is missing"]),
    ({"source": "files", "path": "/a"}, ["'format' is missing"]),
    ({"format": "parquet", "path": "/a"}, ["'source' is missing"]),
    ({"source": "hybrid"}, ["'legs' is missing"]),
    (
        kafka(subscribePattern="t.*"),
        ["SPLICE_OPTION.CONFLICT", "subscribe, subscribePattern", "exactly one"],
    ),
    (kafka(assign='{"t":[0]}'), ["subscribe, assign", "exactly one"]),
    (
        {name: value for name, value in kafka().items() if name != "subscribe"},
        ["subscribe", "subscribePattern", "assign"],
    ),
    (
        hybrid(legs="live,history"),
        [
            "SPLICE_HYBRID.UNBOUNDED_LEG",
            "'live' is unbounded",
            "never read leg 'history'",
            "endingOffsets",
        ],
    ),
    (
        hybrid(legs="history,2live"),
        ["SPLICE_HYBRID.INVALID_LEG_NAME", "'2live'", "letters, digits and underscores"],
    ),
    (hybrid(legs="history,History"), ["history", "History", "case"]),
    (hybrid(live__source="hybrid"), ["SPLICE_HYBRID.NESTED_HYBRID", "'live.source'"]),
    (hybrid(history__handOver="offsets"), ["'history' is the first leg"]),
    (
        hybrid(live__handOver="offsets", live__startingOffsets="earliest"),
        ["live.handOver, live.startingOffsets", "set the start of the leg twice"],
    ),
    (
        hybrid(live__handOver="eventTime", live__handOver__column="ts"),
        ["'live.handOver.overlap' is missing"],
    ),
    (
        hybrid(live__handOver="nowMinus", live__handOver__duration="soon"),
        ["'soon' is not a valid value of option 'live.handOver.duration'"],
    ),
    (
        kafka(maxOffsetsPerTrigger="many"),
        [
            "SPLICE_OPTION.INVALID_VALUE",
            "'many' is not a valid value of option 'maxOffsetsPerTrigger'",
            "whole number",
        ],
    ),
    (TWO_FOLDERS | {"next.handOver": "offsets"}, ["SPLICE_HAND_OVER.NO_LOG"]),
    (
        TWO_FOLDERS | {"next.handOver": "nowMinus", "next.handOver.duration": "1h"},
        ["SPLICE_HAND_OVER.TIME_NOT_SUPPORTED"],
    ),
    (
        FILES | {"latestFirst": "true", "onUnknownOption": "warn"},
        ["SPLICE_FILES_OPTION.OPTION_NOT_SUPPORTED"],
    ),
    (
        FILES | {"endWhen": "caughtUp"},
        ["endWhen, discovery", "'endWhen' needs 'discovery' = 'watch'"],
    ),
    (
        FILES | {"discovery": "watch", "endWhen": "quiet:soon"},
        ["'quiet:soon' is not a valid value of option 'endWhen'", "caughtUp"],
    ),
    (
        hybrid(history__discovery="watch"),
        ["'history' is unbounded", "never read leg 'live'", "endWhen"],
    ),
]
"""Options that are rejected when a stream is loaded, and patterns of the error.

A pattern that begins with ``SPLICE_`` is the condition of the error.
"""

COLUMNS: dict[str, tuple[str, str, dict[str, str]]] = {
    "SPLICE_SELECT.INVALID_EXPRESSION": ("id, nam", "id, name", {}),
    "SPLICE_SELECT.EXPRESSION_NOT_SUPPORTED": ("id, rand() AS name", "id, name", {}),
    "SPLICE_SELECT.NOT_A_LIST": ("id, name FROM x", "id, name", {}),
    "SPLICE_SCHEMA.COLUMN_NOT_FOUND": (
        "id, name",
        "id, name",
        {"schema": "id BIGINT, name STRING, amount DOUBLE"},
    ),
    "SPLICE_SCHEMA.COLUMN_TYPE_MISMATCH": ("id, name", "CAST(id AS STRING) AS id, name", {}),
    "SPLICE_SCHEMA.DUPLICATE_COLUMN": ("id, name, name", "id, name", {}),
    "SPLICE_SCHEMA.EXTRA_COLUMN": ("id, name", "id", {}),
    "SPLICE_SCHEMA.RESERVED_COLUMN": ("id, name AS _leg", "id, name AS _leg", {}),
}
"""The SELECT lists of two legs over columns ``id`` and ``name``, and further options."""


def two_legs(world: World, path: str, first: str, then: str, more: dict[str, str]) -> None:
    """Read a hybrid of two legs over the same files with two SELECT lists."""
    selects = {"first.select": first, "next.select": then}
    world.read(**TWO_FOLDERS | {"first.path": path, "next.path": path} | selects | more)


@provokes("SPLICE_SOURCE.WRITE_NOT_SUPPORTED", "Splice does not write", r'format\("kafka"\)')
def write(world: World) -> None:
    writer = world.spark.range(1).write.format("splice").options(**world.unused_kafka())
    writer.mode("append").save()


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
