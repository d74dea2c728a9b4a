# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of a query with ``onRemoved`` = drop, derived from the checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from clusters.atlas import Atlas, rows_in, soon, splits
from clusters.load import Load
from demo.checkpoint import Checkpoint
from streams import start, written


def test_rows_end_at_the_last_offset_before_the_removal(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    east, west = atlas.topic("east"), atlas.topic("west")
    atlas.publish({"orders": {"east": [east], "west": [west]}})
    atlas.produce("west", west, 3000)
    query = start(atlas.stream(spark, onRemoved="drop", maxOffsetsPerTrigger=200), tmp_path)
    with Load(atlas) as load:
        load.aim(("east", east), ("west", west))
        soon(query, "some rows of west", lambda: rows_in(tmp_path) > 100)
        atlas.publish({"orders": {"east": [east]}})
        soon(query, "the removal of west", lambda: set(splits(query)) == {"east"})
    ends = {p: end for p, (_, end) in atlas.clusters.topics("east").offsets(east).items()}
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    soon(query, "all of east", lambda: _last(checkpoint)["clusters"]["east"][east] == _text(ends))
    query.stop()

    before = _last_before(checkpoint, atlas.generation)
    held = {int(p): end for p, end in before["clusters"]["west"][west].items()}
    there = atlas.clusters.topics("west").offsets(west)
    assert 0 < sum(held.values()) < sum(end for _, end in there.values())
    assert _read(spark, tmp_path, "west") == _all_below(held)
    assert _read(spark, tmp_path, "east") == _all_below(ends)


def _last(checkpoint: Checkpoint) -> dict[str, Any]:
    return checkpoint.offset(checkpoint.committed())


def _last_before(checkpoint: Checkpoint, generation: int) -> dict[str, Any]:
    """Return the last offset before the change of this generation."""
    changes = {
        int(key.removeprefix("change-")): json.loads(text.splitlines()[1])
        for key, text in checkpoint.entries().items()
        if key.startswith("change-")
    }
    later = min(number for number, head in changes.items() if head.get("generation") == generation)
    offsets = [checkpoint.offset(batch) for batch in range(checkpoint.planned() + 1)]
    return [offset for offset in offsets if offset["change"] < later][-1]


def _read(spark: SparkSession, folder: Path, cluster: str) -> list[tuple[int, int]]:
    rows = written(spark, folder).where(f"_cluster = '{cluster}'").collect()
    return sorted((row["partition"], row["offset"]) for row in rows)


def _all_below(ends: dict[int, int]) -> list[tuple[int, int]]:
    return sorted((p, offset) for p, end in ends.items() for offset in range(end))


def _text(offsets: dict[int, int]) -> dict[str, int]:
    return {str(p): offset for p, offset in offsets.items()}
