# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Orders in Kafka, and their archive in Parquet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from splice import FileSource, HandOver, HybridSource, KafkaSource

HISTORY_SELECT = "order_id, amount, event_time"
LIVE_SELECT = (
    "CAST(key AS STRING) AS order_id, "
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount, timestamp AS event_time"
)
HISTORY_SCHEMA = (
    "order_id STRING, amount DOUBLE, event_time TIMESTAMP, "
    "topic STRING, partition INT, offset BIGINT"
)
_ARCHIVED = pa.schema(
    [
        ("order_id", pa.string()),
        ("amount", pa.float64()),
        ("event_time", pa.timestamp("us", tz="UTC")),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
    ]
)
_FILES = 4
FIRST_EVENT = 1_767_225_600_000
"""Event time of order 0, in milliseconds. Order n is n seconds later."""


def order_id(number: int) -> str:
    """Return the id of an order."""
    return f"order-{number:07d}"


def orders(numbers: Iterable[int], partitions: int) -> Iterator[Record]:
    """Return orders as records. The number of an order determines its partition."""
    for number in numbers:
        yield Record(
            json.dumps({"amount": number / 4}),
            order_id(number),
            number % partitions,
            FIRST_EVENT + number * 1000,
        )


def archive(
    topics: KafkaTopics,
    topic: str,
    path: Path,
    until: Mapping[int, int],
    partition_by: str | None = None,
) -> int:
    """Write the records before an offset per partition as Parquet, and return their number.

    Like the files of an archiver, the files contain topic, partition and offset of each record.
    """
    rows = [
        {
            "order_id": (message.key() or b"").decode(),
            "amount": json.loads(message.value() or "{}")["amount"],
            "event_time": datetime.fromtimestamp(message.timestamp()[1] / 1000, timezone.utc),
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
        }
        for message in topics.records(topic)
        if int(message.offset() or 0) < until.get(int(message.partition() or 0), 0)
    ]
    write_archive(rows, path, partition_by)
    return len(rows)


def write_archive(
    rows: Sequence[Mapping[str, object]], path: Path, partition_by: str | None = None
) -> None:
    """Write rows to Parquet files of an archive, without Spark, which takes one second."""
    table = pa.Table.from_pylist(list(rows), _ARCHIVED)
    if partition_by:
        pq.write_to_dataset(table, path, partition_cols=[partition_by])
        return
    path.mkdir(parents=True, exist_ok=True)
    for number in range(_FILES):
        part = table.take(pa.array(range(number, len(rows), _FILES), pa.int64()))
        pq.write_table(part, path / f"part-{number:05d}.parquet")


def history(*paths: Path | str, **options: str) -> FileSource:
    """Return the source of an archive."""
    return FileSource.builder("parquet", *paths).options(**options).build()


def live(topics: KafkaTopics, topic: str, **options: str) -> KafkaSource:
    """Return the source of a topic, for the leg after the archive."""
    builder = KafkaSource.builder().bootstrap_servers(topics.bootstrap_servers).topics(topic)
    return builder.options(**options).build()


def history_then_live(first: FileSource, then: KafkaSource) -> HybridSource:
    """Return a hybrid source with a hand-over by offsets."""
    return (
        HybridSource.builder("history", first, select=HISTORY_SELECT)
        .add_source("live", then, hand_over=HandOver.offsets(), select=LIVE_SELECT)
        .build()
    )


def ids(frame: DataFrame) -> list[str]:
    """Return the order ids of a DataFrame, including duplicates."""
    return [row.order_id for row in frame.select("order_id").collect()]


def assert_each_once(seen: Iterable[str], produced: Iterable[int]) -> None:
    """Assert that the ids equal the ids of the produced orders, without duplicates."""
    found = list(seen)
    expected = {order_id(number) for number in produced}
    wrong = {
        "missing": sorted(expected - set(found)),
        "foreign": sorted(set(found) - expected),
        "doubled": sorted(one for one, times in Counter(found).items() if times > 1),
    }
    summary = {what: f"{len(those)}: {those[:5]}" for what, those in wrong.items() if those}
    assert not summary, f"{len(found)} rows for {len(expected)} orders, {summary}"
