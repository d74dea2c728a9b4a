# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""An archiver, which copies the older part of a topic to Parquet files.

Each row keeps its topic, partition and offset. As in real archives, files contain records of
several partitions, differ in size, and end at different offsets of the partitions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Message

from servers.kafka.topics import KafkaTopics

SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("order_id", pa.string()),
        ("amount", pa.float64()),
        ("event_time", pa.timestamp("us", tz="UTC")),
    ]
)


def uneven_ends(sizes: Mapping[int, int], share: float) -> dict[int, int]:
    """Return the end of each partition's archive, which is near the share of the partition."""
    middle = (len(sizes) - 1) / 2
    return {p: int(sizes[p] * share * (1 + 0.04 * (p - middle))) for p in sorted(sizes)}


def archive(
    topics: KafkaTopics, topic: str, ends: Mapping[int, int], folder: Path, files: int
) -> int:
    """Write each partition's records before its end to files, and return the number of records."""
    folder.mkdir(parents=True)
    rows = sum(ends.values())
    wanted = _before(topics.records(topic), dict(ends))
    for index, size in enumerate(_sizes(rows, files)):
        table = _table(list(itertools.islice(wanted, size)))
        pq.write_table(table, folder / f"orders-{index:05d}.parquet", compression="snappy")
    return rows


def last_offsets(folder: Path) -> dict[int, int]:
    """Return the greatest archived offset of each partition."""
    table = pq.read_table(folder, columns=["partition", "offset"])
    found = table.group_by("partition").aggregate([("offset", "max")]).to_pydict()
    return dict(sorted(zip(found["partition"], found["offset_max"], strict=True)))


def _sizes(rows: int, files: int) -> list[int]:
    # Between 0.6 and 1.4 of the mean.
    weights = [0.6 + 0.8 * (i * 7 % 10) / 9 for i in range(files)]
    borders = [round(rows * sum(weights[:i]) / sum(weights)) for i in range(files + 1)]
    return [after - before for before, after in itertools.pairwise(borders)]


def _before(messages: Iterable[Message], ends: dict[int, int]) -> Iterator[Message]:
    left = sum(ends.values())
    for message in messages:
        if (message.offset() or 0) < ends[message.partition() or 0]:
            yield message
            left -= 1
        if left == 0:
            return


def _table(messages: list[Message]) -> pa.Table:
    # The value is {"amount":12.34,...}. A JSON parser would use most of the time.
    columns = [
        [m.topic() for m in messages],
        [m.partition() for m in messages],
        [m.offset() for m in messages],
        [(m.key() or b"").decode() for m in messages],
        [float((m.value() or b"")[10:].split(b",", 1)[0]) for m in messages],
        [m.timestamp()[1] * 1000 for m in messages],
    ]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)
