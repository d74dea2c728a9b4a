# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Error texts with the fault, its cause and its remedy."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import IllegalArgumentException, QueryExecutionException

from orders import (
    HISTORY_SELECT,
    LIVE_SELECT,
    history,
    history_then_live,
    live,
)
from refusals import assert_says, failure
from servers.kafka.topics import KafkaTopics
from servers.ports import free_ports
from splice import (
    FileSource,
    HandOver,
    HybridSource,
    KafkaSource,
    OptionError,
    SourceError,
    SourceSpec,
)
from streams import drain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


HISTORY_COLUMNS = ["order_id", "amount", "event_time", "topic", "partition", "offset"]


def chain(first: SourceSpec, then: SourceSpec, rule: HandOver | None = None) -> HybridSource:
    """Return a chain of two sources like the main job, with another rule."""
    return (
        HybridSource.builder("history", first, select=HISTORY_SELECT)
        .add_source("live", then, hand_over=rule or HandOver.offsets(), select=LIVE_SELECT)
        .build()
    )


def kafka_options(**more: str) -> dict[str, str]:
    return {"source": "kafka", "kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "t"} | more


HYBRID = {
    "source": "hybrid",
    "legs": "history,live",
    "history.source": "files",
    "history.format": "parquet",
    "history.path": "/nowhere",
    **{f"live.{name}": value for name, value in kafka_options().items()},
}


@pytest.mark.parametrize(
    ("options", "patterns"),
    [
        (
            kafka_options(startingOffset="earliest"),
            ["SPLICE_OPTION.UNKNOWN", "'startingOffset' is unknown", "mean 'startingOffsets'"],
        ),
        (
            HYBRID | {"live.maxOffsetPerTrigger": "5"},
            ["'live.maxOffsetPerTrigger' is unknown", "mean 'live.maxOffsetsPerTrigger'"],
        ),
        (HYBRID | {"lives.subscribe": "t"}, ["'lives.subscribe' is unknown", "'live.subscribe'"]),
        (
            kafka_options(source="kafak"),
            ["'kafak' is not a valid value of option 'source'", "files", "kafka", "hybrid"],
        ),
        ({"source": "kafka", "subscribe": "t"}, ["'kafka.bootstrap.servers' is missing"]),
        ({"source": "files", "format": "parquet"}, ["'path' is missing"]),
        ({"source": "files", "path": "/a"}, ["'format' is missing"]),
        ({"format": "parquet", "path": "/a"}, ["'source' is missing"]),
        ({"source": "hybrid"}, ["'legs' is missing"]),
        (
            kafka_options(subscribePattern="t.*"),
            ["subscribe, subscribePattern", "exactly one"],
        ),
        (kafka_options(assign='{"t":[0]}'), ["subscribe, assign", "exactly one"]),
        (
            {name: value for name, value in kafka_options().items() if name != "subscribe"},
            ["subscribe", "subscribePattern", "assign"],
        ),
        (
            HYBRID | {"legs": "live,history"},
            ["'live' is unbounded", "never read leg 'history'", "endingOffsets"],
        ),
        (HYBRID | {"legs": "history,2live"}, ["'2live'", "letters, digits and underscores"]),
        (HYBRID | {"legs": "history,History"}, ["history", "History", "case"]),
        (HYBRID | {"history.handOver": "offsets"}, ["'history' is the first leg"]),
        (
            HYBRID | {"live.handOver": "offsets", "live.startingOffsets": "earliest"},
            ["live.handOver, live.startingOffsets", "set the start of the leg twice"],
        ),
        (
            HYBRID | {"live.handOver": "eventTime", "live.handOver.column": "ts"},
            ["'live.handOver.overlap' is missing"],
        ),
        (
            HYBRID | {"live.handOver": "nowMinus", "live.handOver.duration": "soon"},
            ["'soon' is not a valid value of option 'live.handOver.duration'"],
        ),
        (
            kafka_options(maxOffsetsPerTrigger="many"),
            ["'many' is not a valid value of option 'maxOffsetsPerTrigger'", "whole number"],
        ),
    ],
)
def test_options_are_rejected_by_name(
    spark: SparkSession, options: Mapping[str, str], patterns: list[str]
) -> None:
    with pytest.raises(IllegalArgumentException) as raised:
        spark.readStream.format("splice").options(**options).load()
    assert_says(str(raised.value), *patterns)
    assert (raised.value.getCondition() or "").startswith("SPLICE_")


def test_a_builder_raises_the_same_error_at_build(spark: SparkSession) -> None:
    builder = KafkaSource.builder().bootstrap_servers("127.0.0.1:1").topics("t")
    with pytest.raises(OptionError) as raised:
        builder.option("startingOffset", "earliest").build()
    assert_says(str(raised.value), "mean 'startingOffsets'")
    assert (raised.value.getCondition() or "").startswith("SPLICE_OPTION.UNKNOWN")


def test_unknown_options_can_be_warnings(
    spark: SparkSession, topics: KafkaTopics, topic: str
) -> None:
    source = live(topics, topic, startingOffset="earliest", onUnknownOption="warn")
    assert source.read(spark).count() == 60


@pytest.mark.parametrize(
    ("select", "patterns"),
    [
        (
            "order_id, event_time, amount || '' AS amount",
            ["'history'", "'amount'", "string.*double"],
        ),
        ("order_id, amount", ["'history'", "'event_time'", "timestamp"]),
        ("*", ["'history'", "'(topic|partition|offset)'"]),
        ("order_id, amounts AS amount, event_time", ["amounts", "amount"]),
        ("order_id, rand() AS amount, event_time", ["history.select", "rand"]),
        ("order_id, sum(amount) AS amount, event_time", ["history.select", "aggregate|sum"]),
        ("order_id, (SELECT 1.0D) AS amount, event_time", ["history.select", "subquer"]),
        ("order_id, amount, event_time FROM x", ["history.select"]),
    ],
)
def test_selects_that_do_not_fit(
    spark: SparkSession,
    topics: KafkaTopics,
    topic: str,
    history_path: Path,
    tmp_path: Path,
    select: str,
    patterns: list[str],
) -> None:
    source = (
        HybridSource.builder("history", history(history_path), select=select)
        .add_source("live", live(topics, topic), HandOver.offsets(), LIVE_SELECT)
        .build()
    )
    assert_says(failure(spark, source, tmp_path), *patterns)


def test_hand_over_columns_that_do_not_exist(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    rule = HandOver.offsets(offset="kafka_offset")
    source = chain(history(history_path), live(topics, topic), rule)
    message = failure(spark, source, tmp_path)
    assert_says(message, "kafka_offset", "offset", "order_id.*topic.*partition")


def test_holes_in_the_archive(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    holed = tmp_path / "holed"
    rows = spark.read.parquet(str(history_path)).where("partition <> 1 OR offset NOT IN (4, 5)")
    rows.write.parquet(str(holed))

    def holed_then_live(on_holes: str | None = None) -> HybridSource:
        return (
            HybridSource.builder("history", history(holed), HISTORY_SELECT)
            .add_source(
                "live", live(topics, topic), HandOver.offsets(), LIVE_SELECT, on_holes=on_holes
            )
            .build()
        )

    message = failure(spark, holed_then_live("fail"), tmp_path / "a")
    assert_says(message, "SPLICE_HAND_OVER_DATA.HOLES", "'live'", "'history'", "onHoles", topic)
    assert_says(message, rf"{topic}-1 lacks 2 \(4 to 5\)")
    drain(holed_then_live().read_stream(spark), tmp_path / "a")
    drain(holed_then_live("ignore").read_stream(spark), tmp_path / "b")


def test_an_end_in_the_future(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    late = spark.read.parquet(str(history_path)).limit(1)
    late = late.selectExpr("* EXCEPT (event_time)", "TIMESTAMP '2099-01-01 00:00:00' AS event_time")
    late.select(*HISTORY_COLUMNS).write.mode("append").parquet(str(history_path))
    rule = HandOver.event_time("event_time", "10m")
    message = failure(spark, chain(history(history_path), live(topics, topic), rule), tmp_path)
    assert_says(message, "SPLICE_HAND_OVER_DATA.END_IN_FUTURE", "'live'", "'history'", "2099-01-01")
    assert_says(message, "'history.modifiedBefore'")


def test_a_start_beyond_retention(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    topics.delete_records(topic, {0: 15, 2: 12})
    source = history_then_live(history(history_path), live(topics, topic))
    message = failure(spark, source, tmp_path / "a")
    assert_says(
        message,
        "SPLICE_HAND_OVER_DATA.GAP",
        f"{topic}-0 10 to 14",
        f"{topic}-2 10 to 11",
        "'live.onGap'",
    )
    assert f"{topic}-1" not in message.split("Retention removed")[0]
    warned = (
        HybridSource.builder("history", history(history_path), HISTORY_SELECT)
        .add_source("live", live(topics, topic), HandOver.offsets(), LIVE_SELECT, on_gap="warn")
        .build()
    )
    drain(warned.read_stream(spark), tmp_path / "a")


def test_a_broker_that_does_not_respond(spark: SparkSession, tmp_path: Path) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", free_ports(1)[0]))
        deaf.listen()
        servers = f"127.0.0.1:{deaf.getsockname()[1]}"
        source = (
            KafkaSource.builder()
            .bootstrap_servers(servers)
            .topics("orders")
            .option("kafka.default.api.timeout.ms", 3000)
            .build()
        )
        message = failure(spark, source, tmp_path)
    assert_says(
        message, "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE", servers, "3 ?s|3000 ?ms|3 seconds"
    )


def test_a_topic_that_does_not_exist(
    spark: SparkSession, topics: KafkaTopics, tmp_path: Path
) -> None:
    message = failure(spark, live(topics, "no-such-topic"), tmp_path)
    assert_says(
        message, "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND", "no-such-topic", topics.bootstrap_servers
    )


def test_a_path_that_does_not_exist(spark: SparkSession, tmp_path: Path) -> None:
    missing = FileSource.builder("parquet", tmp_path / "none").build()
    with pytest.raises(SourceError) as raised:
        missing.read(spark)
    assert raised.value.getCondition() == "SPLICE_FILES.PATH_NOT_FOUND"
    assert_says(str(raised.value), str(tmp_path / "none"))


def test_an_error_at_planning_is_an_error_of_pyspark(
    spark: SparkSession, topics: KafkaTopics
) -> None:
    rows = live(topics, "no-such-topic").read(spark)
    for action in (rows.count, rows.collect, rows.toArrow):
        with pytest.raises(QueryExecutionException) as raised:
            action()
        assert raised.value.getCondition() == "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"
        assert_says(
            str(raised.value), "Topic no-such-topic does not exist", topics.bootstrap_servers
        )


def test_writing(spark: SparkSession, topics: KafkaTopics) -> None:
    options = live(topics, "orders").options()
    writer = spark.range(1).write.format("splice").options(**options).mode("append")
    with pytest.raises(Exception, match="Splice does not write") as raised:
        writer.save()
    assert_says(str(raised.value), "Splice does not write", r'format\("kafka"\)')


def test_writing_a_stream(spark: SparkSession, topics: KafkaTopics, tmp_path: Path) -> None:
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    writer = rows.writeStream.format("splice").options(**live(topics, "orders").options())
    writer = writer.option("checkpointLocation", str(tmp_path))
    with pytest.raises(Exception, match="Splice does not write") as raised:
        writer.start().awaitTermination(60)
    assert_says(str(raised.value), "Splice does not write", r'format\("kafka"\)')
