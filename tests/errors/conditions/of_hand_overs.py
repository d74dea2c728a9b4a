# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of hand-overs from an archive to a log."""

from __future__ import annotations

from pathlib import Path

from errors.conditions.world import World, provokes
from splice import FileSource, HandOver, HybridSource, KafkaSource
from streams import drain


@provokes("SPLICE_HAND_OVER.COLUMN_NOT_FOUND", "kafka_offset", "order_id.*topic.*partition")
def column_not_found(world: World) -> None:
    topic = world.topic()
    live = world.real_kafka(topic, **{"handOver.offset": "kafka_offset"})
    world.drain(**world.chain(world.archived(topic), live))


@provokes("SPLICE_HAND_OVER.COLUMNS_NOT_UNIQUE", '"kafka_partition"', '"topic":"topic"')
def columns_not_unique(world: World) -> None:
    topic = world.topic()
    rows = world.spark.read.parquet(world.archived(topic))
    both = rows.selectExpr("*", *(f"{c} AS kafka_{c}" for c in ("topic", "partition", "offset")))
    both.write.parquet(world.path("both"))
    world.drain(**world.chain(world.path("both"), world.real_kafka(topic)))


@provokes("SPLICE_HAND_OVER.TOPIC_NOT_UNIQUE", "reads the topics")
def topic_not_unique(world: World) -> None:
    topic = world.topic()
    columns = '{"partition": "partition", "offset": "offset"}'
    live = world.real_kafka(topic, subscribe=f"{topic},{world.topic()}")
    chain = world.chain(world.archived(topic), live)
    world.drain(**chain | {"history.logColumns": columns})


@provokes("SPLICE_HAND_OVER.NO_STREAM", "'live.handOver'", "'kafka'")
def no_stream(world: World) -> None:
    live = world.unused_kafka(handOver="afterVersion")
    world.drain(**world.chain(world.parquet("history", "id AS order_id"), live))


@provokes("SPLICE_HAND_OVER.VERSION_NOT_SUPPORTED", "leg 'history'")
def version_not_supported(world: World) -> None:
    history = world.files(world.parquet("history", "id"), select="id")
    live = {"source": "stream", "format": "rate", "handOver": "afterVersion"}
    live["select"] = "value AS id"
    options = {f"history.{name}": value for name, value in history.items()}
    options |= {f"live.{name}": value for name, value in live.items()}
    world.drain(source="hybrid", legs="history,live", **options)


@provokes("SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH")
def column_type(world: World) -> None:
    topic = world.topic()
    rows = world.spark.read.parquet(world.archived(topic))
    changed = rows.withColumn("offset", rows["offset"].cast("string"))
    changed.write.parquet(world.path("changed"))
    world.drain(**world.chain(world.path("changed"), world.real_kafka(topic)))


@provokes("SPLICE_HAND_OVER.NO_OFFSETS")
def no_offsets(world: World) -> None:
    topic = world.topic()
    rows = world.spark.read.parquet(world.archived(topic))
    rows.select("order_id", "amount", "event_time").write.parquet(world.path("older"))
    older = world.files(world.path("older"), select="order_id, amount, event_time")
    options = world.chain(world.path("history"), world.real_kafka(topic))
    options |= {f"older.{name}": value for name, value in older.items()}
    world.drain(**options | {"legs": "older,history,live"})


def custom(world: World, start: object) -> None:
    """Drain a hybrid whose custom rule returns a start, or raises an error."""

    def rule(_: dict[str, object]) -> str:
        if isinstance(start, Exception):
            raise start
        return str(start)

    topic = world.topic()
    history = FileSource.builder("parquet", world.archived(topic)).build()
    live = KafkaSource.builder().bootstrap_servers(world.kafka.bootstrap_servers).topics(topic)
    chain = HybridSource.builder("history", history, "order_id").add_source(
        "live", live.build(), HandOver.custom(rule), "CAST(key AS STRING) AS order_id"
    )
    drain(chain.build().read_stream(world.spark), world.folder)


@provokes("SPLICE_HAND_OVER.INVALID_START")
def invalid_start(world: World) -> None:
    custom(world, '{"offsets": 12}')


@provokes("SPLICE_HAND_OVER.RULE_FAILED")
def rule_failed(world: World) -> None:
    custom(world, ValueError("the inventory is not available"))


def written(world: World, checkpoint: Path) -> None:
    """Drain a hybrid that begins at the checkpoint of a writing query."""
    topic = world.topic()
    rule = {"handOver": "writerCheckpoint", "handOver.checkpoint": str(checkpoint)}
    rule |= {"handOver.source": "0"}
    world.drain(**world.chain(world.archived(topic), world.real_kafka(topic, **rule)))


@provokes("SPLICE_HAND_OVER.WRITER_FILE_NOT_FOUND", "metadata")
def writer_file_not_found(world: World) -> None:
    written(world, Path(world.path("nothing")))


@provokes("SPLICE_HAND_OVER.WRITER_NOT_FOUND", "6f4b2c1e")
def writer_not_found(world: World) -> None:
    folder = Path(world.path("writer"))
    folder.mkdir()
    (folder / "metadata").write_text('{"id":"6f4b2c1e"}')
    written(world, folder)
