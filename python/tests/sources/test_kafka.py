# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builder of Kafka sources: resulting options, and rejected arguments."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from splice import KafkaSource, KafkaSourceBuilder, OffsetsInitializer, OptionError


class Choice(str, Enum):
    """Enumeration whose text is the name of a member."""

    FIRST = "a"


def orders() -> KafkaSourceBuilder:
    return KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders")


def test_a_source_has_sparks_option_names() -> None:
    assert orders().build().options() == {
        "source": "kafka",
        "kafka.bootstrap.servers": "broker:9092",
        "subscribe": "orders",
    }


def test_members_of_enumerations_and_missing_times() -> None:
    topics = KafkaSource.builder().bootstrap_servers("b:1").topics([Choice.FIRST, np.str_("b")])
    assert topics.build().options()["subscribe"] == "a,b"
    assert topics.option("paths", [Choice.FIRST]).build().options()["paths"] == '["a"]'
    for call in (OffsetsInitializer.timestamp, lambda time: topics.option("some", time)):
        with pytest.raises(OptionError, match="NaT is not a valid time"):
            call(pd.NaT)


def test_several_topics_are_a_comma_list() -> None:
    source = KafkaSource.builder().bootstrap_servers("b:1").topics("a", "b").build()
    assert source.options()["subscribe"] == "a,b"


def test_pattern() -> None:
    source = KafkaSource.builder().bootstrap_servers("b:1").topic_pattern("orders-.*").build()
    assert source.options()["subscribePattern"] == "orders-.*"


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ("earliest", {"startingOffsets": "earliest"}),
        ("latest", {"startingOffsets": "latest"}),
        (OffsetsInitializer.earliest(), {"startingOffsets": "earliest"}),
        (OffsetsInitializer.latest(), {"startingOffsets": "latest"}),
        (
            OffsetsInitializer.timestamp(1_700_000_000_123),
            {"startingTimestamp": "1700000000123"},
        ),
        (
            OffsetsInitializer.timestamp(datetime(2026, 1, 1, 0, 0, 0, 999, tzinfo=timezone.utc)),
            {"startingTimestamp": "1767225600000"},
        ),
        (
            OffsetsInitializer.timestamp(
                datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
            ),
            {"startingTimestamp": "1767225600000"},
        ),
        (
            OffsetsInitializer.offsets({"orders": {1: -2, 0: 7}}),
            {"startingOffsets": '{"orders":{"0":7,"1":-2}}'},
        ),
        (
            OffsetsInitializer.committed("earliest"),
            {"startingOffsets": "committed", "onNoCommittedOffset": "earliest"},
        ),
        (
            OffsetsInitializer.committed(),
            {"startingOffsets": "committed", "onNoCommittedOffset": "fail"},
        ),
    ],
)
def test_starts(start: str | OffsetsInitializer, options: dict[str, str]) -> None:
    built = orders().starting_offsets(start).build().options()
    assert options.items() <= built.items()
    assert len(built) == 3 + len(options)


@pytest.mark.parametrize(
    ("end", "options"),
    [
        ("latest", {"endingOffsets": "latest"}),
        ("committed", {"endingOffsets": "committed"}),
        (OffsetsInitializer.committed(), {"endingOffsets": "committed"}),
        (OffsetsInitializer.timestamp(5), {"endingTimestamp": "5"}),
        (
            OffsetsInitializer.offsets({"orders": {0: 9}}),
            {"endingOffsets": '{"orders":{"0":9}}'},
        ),
    ],
)
def test_an_end_makes_it_bounded(end: str | OffsetsInitializer, options: dict[str, str]) -> None:
    source = orders().ending_offsets(end).build()
    assert options.items() <= source.options().items()
    assert source.bounded
    assert not orders().build().bounded


NOON = 1_780_315_200_000


@pytest.mark.parametrize(
    "at",
    [
        "2026-06-01T12:00:00Z",
        "2026-06-01 14:00:00.000+02:00",
        "2026-06-01T12:00Z",
        "2026-06-01T14:00:00.0+0200",
        "2026-06-01T12:00:00.000000999Z",
        datetime(2026, 6, 1, 12, tzinfo=timezone.utc),
        NOON,
    ],
)
def test_times_with_a_zone(at: datetime | str | int) -> None:
    assert OffsetsInitializer.timestamp(at).value == str(NOON)
    by_partition = OffsetsInitializer.timestamps({"orders": {0: at}})
    source = orders().starting_offsets(by_partition).build()
    assert source.options()["startingOffsetsByTimestamp"] == f'{{"orders":{{"0":{NOON}}}}}'
    ended = orders().ending_offsets(by_partition).build()
    assert ended.options()["endingOffsetsByTimestamp"] == f'{{"orders":{{"0":{NOON}}}}}'
    assert ended.bounded
    if not isinstance(at, int):
        assert orders().starting_offsets(at).build().options()["startingTimestamp"] == str(NOON)
        assert orders().ending_offsets(at).build().options()["endingTimestamp"] == str(NOON)


@pytest.mark.parametrize("at", [datetime(2026, 6, 1, 12), "2026-06-01T12:00:00", "2026-06-01"])
def test_a_time_without_a_zone_is_rejected_with_the_fix(at: datetime | str) -> None:
    for call in (OffsetsInitializer.timestamp, orders().starting_offsets):
        with pytest.raises(OptionError, match=r"has no time zone.*tzinfo=timezone\.utc") as raised:
            call(at)
        assert raised.value.getCondition() == "SPLICE_BUILDER.TIME_ZONE_NOT_SET"


@pytest.mark.parametrize("times", [{}, {"t": {}}, {"t": 5}, {"t": {-1: 0}}, {"t": {0: "noon"}}])
def test_times_per_partition_that_are_none(times: dict[str, dict[int, int]]) -> None:
    with pytest.raises(OptionError):
        OffsetsInitializer.timestamps(times)


def test_a_start_replaces_the_one_before() -> None:
    source = orders().starting_offsets(OffsetsInitializer.committed("latest"))
    built = source.starting_offsets(OffsetsInitializer.timestamp(1)).build().options()
    assert built["startingTimestamp"] == "1"
    assert "startingOffsets" not in built
    assert "onNoCommittedOffset" not in built


@pytest.mark.parametrize("end", ["earliest", OffsetsInitializer.committed("latest")])
def test_some_positions_are_not_valid_ends(end: str | OffsetsInitializer) -> None:
    with pytest.raises(OptionError, match="valid only as a start"):
        orders().ending_offsets(end)


def test_an_offset_of_earliest_is_not_a_valid_end() -> None:
    with pytest.raises(OptionError, match="offset -2"):
        orders().ending_offsets(OffsetsInitializer.offsets({"orders": {0: -2}}))


@pytest.mark.parametrize("word", ["oldest", '{"orders":{"0":1}}', None, 5, "2026-13-01"])
def test_another_word_is_not_a_position(word: object) -> None:
    with pytest.raises(OptionError, match=r"'starting_offsets' is .*Use 'earliest', 'latest'"):
        orders().starting_offsets(word)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "offsets",
    [{}, {"t": {}}, {"t": {0: -3}}, {"t": {-1: 0}}, {"t": {"0": 1}}, {"t": {0: True}}],
)
def test_offsets_that_are_none(offsets: dict[str, dict[int, int]]) -> None:
    with pytest.raises(OptionError):
        OffsetsInitializer.offsets(offsets)


@pytest.mark.parametrize(
    "at",
    [
        -1,
        True,
        "2026-01-01",
        "noon",
        "2026-06-01T12:00:00Z02:00",
        "2026-06-01T25:00Z",
        1.5,
        "1960-01-01T00:00:00Z",
    ],
)
def test_timestamps_that_are_none(at: int) -> None:
    with pytest.raises(OptionError):
        OffsetsInitializer.timestamp(at)


def test_a_reset_is_one_of_three() -> None:
    with pytest.raises(
        OptionError, match=r"'on_no_committed_offset' is 'none'.*'fail', 'earliest', 'latest'"
    ):
        OffsetsInitializer.committed("none")


def test_servers_are_needed() -> None:
    with pytest.raises(OptionError, match=r"'kafka\.bootstrap\.servers' is missing"):
        KafkaSource.builder().topics("orders").build()


@pytest.mark.parametrize(
    ("extra", "names"),
    [
        ({}, "'subscribe', 'subscribePattern'"),
        ({"ASSIGN": '{"orders":[0]}'}, "'subscribe', 'subscribePattern', 'ASSIGN'"),
    ],
)
def test_two_subscriptions_are_rejected(extra: dict[str, str], names: str) -> None:
    builder = orders().option("subscribePattern", "o.*").options(**extra)
    with pytest.raises(OptionError, match=f"exactly one of .*Options that are set: {names}"):
        builder.build()


def test_the_last_subscription_replaces_the_others() -> None:
    base = KafkaSource.builder().bootstrap_servers("b:1").option("assign", '{"orders":[0]}')

    def selected(builder: KafkaSourceBuilder) -> list[tuple[str, str]]:
        options = builder.build().options()
        names = ("subscribe", "subscribePattern", "assign")
        return [(name, options[name]) for name in names if name in options]

    assert selected(base.topic_pattern("b").topics("a")) == [("subscribe", "a")]
    assert selected(base.topics("a").topic_pattern("b")) == [("subscribePattern", "b")]
    assert selected(base) == [("assign", '{"orders":[0]}')]


def test_a_missing_subscription_is_rejected() -> None:
    with pytest.raises(OptionError, match="Options that are set: none"):
        KafkaSource.builder().bootstrap_servers("b:1").build()


def test_lists_of_names() -> None:
    source = (
        KafkaSource.builder().bootstrap_servers(["b1:9092", "b2:9092"]).topics(["a", "b"]).build()
    )
    assert source.options()["kafka.bootstrap.servers"] == "b1:9092,b2:9092"
    assert source.options()["subscribe"] == "a,b"
    separate = KafkaSource.builder().bootstrap_servers("b1:9092", "b2:9092").topics("a", ("b",))
    assert separate.build().options() == source.options()


def test_a_server_is_a_text() -> None:
    with pytest.raises(OptionError, match=r"9092 is not an address of a broker"):
        KafkaSource.builder().bootstrap_servers(["b", 9092])  # type: ignore[list-item]


@pytest.mark.parametrize("topics", [("a,b",), ("",), (7,), (["a", None],)])
def test_invalid_topic_names(topics: tuple[str, ...]) -> None:
    with pytest.raises(OptionError, match="is not a valid topic name"):
        KafkaSource.builder().topics(*topics)


def test_options_of_a_chain_are_rejected() -> None:
    with pytest.raises(OptionError, match=r"'handOver\.overlap' belongs to a hybrid source"):
        orders().option("handOver.overlap", "1 hour").build()


def test_a_later_value_replaces_an_option_regardless_of_case() -> None:
    source = orders().option("failOnDataLoss", True).option("failondataloss", False).build()
    assert source.options()["failondataloss"] == "false"
    assert "failOnDataLoss" not in source.options()


def test_a_value_without_a_text_is_rejected() -> None:
    with pytest.raises(OptionError, match="Option 'minPartitions' has a value of type NoneType"):
        orders().option("minPartitions", None)  # type: ignore[arg-type]


def test_secrets_are_not_shown() -> None:
    source = (
        orders()
        .option("kafka.sasl.jaas.config", 'Login required username="u" password="hunter2";')
        .option("kafka.sasl.password", "${env:SECRET}")
        .option("kafka.ssl.keystore.password", "hunter2")
        .option("kafka.ssl.keystore.key", "hunter2")
        .option("kafka.sasl.oauthbearer.token.endpoint.url", "https://u:hunter2@host/token")
        .option("kafka.schema.registry.url", "https://u:hunter2@host/path?sig=hunter2&x=1")
        .build()
    )
    assert "hunter2" not in repr(source)
    assert "kafka.sasl.password='${env:SECRET}'" in repr(source)
    assert "subscribe='orders'" in repr(source)
    assert source.options()["kafka.ssl.keystore.password"] == "hunter2"


def test_a_group_that_is_committed_to() -> None:
    options = orders().commit_to_group("reports").build().options()
    assert options["kafka.group.id"] == "reports"
    assert options["commitToGroup"] == "true"


def test_properties_of_the_client() -> None:
    source = orders().properties({"security.protocol": "SSL", "request.timeout.ms": 5000}).build()
    assert source.options()["kafka.security.protocol"] == "SSL"
    assert source.options()["kafka.request.timeout.ms"] == "5000"


@pytest.mark.parametrize("group", ["", " ", None])
def test_a_group_needs_a_name(group: object) -> None:
    with pytest.raises(OptionError, match="consumer group"):
        orders().commit_to_group(group)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(5), "5"),
        (np.uint8(5), "5"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "true"),
        (np.str_("a"), "a"),
        (Choice.FIRST, "a"),
        (pd.Series([7])[0], "7"),
        (pd.Timedelta(minutes=10), "10m"),
        (pd.Timestamp("2026-01-31", tz="UTC"), "2026-01-31T00:00:00Z"),
        (Path("/a/b"), "/a/b"),
    ],
)
def test_scalars_of_other_libraries_are_values_of_options(value: Any, text: str) -> None:
    assert orders().option("some", value).build().options()["some"] == text


def test_scalars_of_other_libraries_are_offsets_and_times() -> None:
    zero, five = np.int32(0), np.int64(5)
    start = OffsetsInitializer.offsets({"orders": {zero: five, 1: np.int16(-2)}})
    assert start.value == '{"orders":{"0":5,"1":-2}}'
    assert OffsetsInitializer.timestamp(five).value == "5"
    assert OffsetsInitializer.timestamps({"t": {zero: five}}).value == '{"t":{"0":5}}'
    for wrong in (np.float64(1.0), np.bool_(True), np.datetime64("2026-01-31")):
        with pytest.raises(OptionError):
            OffsetsInitializer.timestamp(wrong)
        with pytest.raises(OptionError):
            OffsetsInitializer.offsets({"orders": {0: wrong}})
