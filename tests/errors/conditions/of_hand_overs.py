# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of hand-overs from an archive to a log."""

from __future__ import annotations

from pathlib import Path

from errors.conditions.world import World, provokes
from splice import FileSource, HandOver, HybridSource, KafkaSource
from streams import drain

EVENT_TIME = {
    "live.handOver": "eventTime",
    "live.handOver.column": "event_time",
    "live.handOver.overlap": "1m",
}


def chained(world: World, history: str | None = None, **more: str) -> None:
    """Drain a hybrid over a topic with 60 orders, and an archive of 30 of these orders."""
    topic = world.topic()
    path = world.archived(topic) if history is None else history
    world.drain(**world.chain(path, world.real_kafka(topic)) | more)


def changed_archive(world: World, topic: str, *columns: str) -> str:
    """Write an archive with other columns, and return the folder."""
    rows = world.spark.read.parquet(world.archived(topic))
    replaced = [column.rsplit(" ", 1)[-1] for column in columns]
    kept = [column for column in rows.columns if column not in replaced]
    rows.selectExpr(*kept, *columns).write.parquet(world.path("changed"))
    return world.path("changed")


def over_changed(world: World, *columns: str, **more: str) -> None:
    """Drain a hybrid over an archive with other columns."""
    topic = world.topic()
    path = changed_archive(world, topic, *columns)
    world.drain(**world.chain(path, world.real_kafka(topic)) | more)


@provokes("SPLICE_HAND_OVER.COLUMN_NOT_FOUND")
def column_not_found(world: World) -> None:
    chained(world, **{"live.handOver.offset": "kafka_offset"})


@provokes("SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH")
def column_type(world: World) -> None:
    over_changed(world, "CAST(offset AS STRING) AS offset")


@provokes("SPLICE_HAND_OVER.NO_EVENT_TIME")
def no_event_time(world: World) -> None:
    over_changed(
        world,
        "CAST(NULL AS TIMESTAMP) AS event_time",
        **EVENT_TIME,
    )


@provokes("SPLICE_HAND_OVER.NO_FILES")
def no_files(world: World) -> None:
    Path(world.path("empty")).mkdir()
    rule = {"live.handOver": "modificationTime", "live.handOver.overlap": "1m"}
    schema = "order_id STRING, amount DOUBLE, event_time TIMESTAMP"
    chained(
        world, world.path("empty"), **rule, **{"history.schema": schema, "history.onEmpty": "warn"}
    )


@provokes("SPLICE_HAND_OVER.NO_LOG")
def no_log(world: World) -> None:
    files = {"live.source": "files", "live.format": "parquet", "live.path": "/nowhere"}
    options = world.unused_chain() | files
    options.pop("live.kafka.bootstrap.servers")
    options.pop("live.subscribe")
    world.load(**options)


@provokes("SPLICE_HAND_OVER.TIME_NOT_SUPPORTED")
def time_not_supported(world: World) -> None:
    of = {"source": "files", "format": "parquet", "path": "/nowhere"}
    options = {f"{leg}.{name}": value for leg in ("first", "next") for name, value in of.items()}
    rule = {"next.handOver": "nowMinus", "next.handOver.duration": "1h"}
    world.load(source="hybrid", legs="first,next", **options, **rule)


@provokes("SPLICE_HAND_OVER.NO_OFFSETS")
def no_offsets(world: World) -> None:
    topic = world.topic()
    rows = world.spark.read.parquet(world.archived(topic))
    rows.select("order_id", "amount", "event_time").write.parquet(world.path("older"))
    older = world.files(world.path("older"), select="order_id, amount, event_time")
    options = world.chain(world.path("history"), world.real_kafka(topic))
    options |= {f"older.{name}": value for name, value in older.items()}
    world.drain(**options | {"legs": "older,history,live"})


@provokes("SPLICE_HAND_OVER.NO_ROWS")
def no_rows(world: World) -> None:
    topic = world.topic()
    rows = world.spark.read.parquet(world.archived(topic)).limit(0)
    rows.write.parquet(world.path("none"))
    world.drain(**world.chain(world.path("none"), world.real_kafka(topic)))


@provokes("SPLICE_HAND_OVER.PARTITION_NOT_FOUND")
def partition_not_found(world: World) -> None:
    over_changed(world, "partition + 7 AS partition")


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


@provokes("SPLICE_HAND_OVER_DATA.DUPLICATES")
def duplicates(world: World) -> None:
    topic = world.topic()
    path = world.archived(topic)
    world.spark.read.parquet(path).limit(2).write.mode("append").parquet(path)
    world.drain(**world.chain(path, world.real_kafka(topic)))


@provokes("SPLICE_HAND_OVER_DATA.END_IN_FUTURE")
def end_in_future(world: World) -> None:
    over_changed(
        world,
        "TIMESTAMP '2099-01-01 00:00:00' AS event_time",
        **EVENT_TIME,
    )


@provokes("SPLICE_HAND_OVER_DATA.GAP")
def gap(world: World) -> None:
    topic = world.topic()
    path = world.archived(topic)
    world.topics.delete_records(topic, {0: 15})
    world.drain(**world.chain(path, world.real_kafka(topic)))


@provokes("SPLICE_HAND_OVER_DATA.HISTORY_BEYOND_LOG")
def beyond_log(world: World) -> None:
    over_changed(world, "offset + 1000 AS offset", **{"live.onHoles": "ignore"})


@provokes("SPLICE_HAND_OVER_DATA.HOLES")
def holes(world: World) -> None:
    topic = world.topic()
    rows = world.spark.read.parquet(world.archived(topic)).where("offset <> 4")
    rows.write.parquet(world.path("holed"))
    live = world.real_kafka(topic)
    world.drain(**world.chain(world.path("holed"), live) | {"live.onHoles": "fail"})


@provokes("SPLICE_HAND_OVER_DATA.INVALID_OFFSETS")
def invalid_offsets(world: World) -> None:
    over_changed(world, "IF(offset = 3, NULL, offset) AS offset")


@provokes("SPLICE_HAND_OVER_DATA.OTHER_LOG")
def other_log(world: World) -> None:
    over_changed(
        world,
        "event_time + INTERVAL 1 HOUR AS event_time",
        **{"live.handOver.timestamp": "event_time"},
    )


@provokes("SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP")
def time_gap(world: World) -> None:
    topic = world.topic()
    path = world.archived(topic)
    world.topics.delete_records(topic, {0: 20})
    options = world.chain(path, world.real_kafka(topic))
    world.drain(**options | EVENT_TIME)
