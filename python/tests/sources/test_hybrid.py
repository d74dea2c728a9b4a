# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builder of chains: resulting options, and rejected arguments."""

from __future__ import annotations

from datetime import timedelta

import pytest
from chain_legs import BOUNDED, HISTORY, LIVE

from splice import (
    FileSource,
    HandOver,
    HybridSource,
    KafkaSource,
    OffsetsInitializer,
    OptionError,
)


def test_prefixed_options_define_a_chain() -> None:
    source = (
        HybridSource.builder("history", HISTORY, select="id")
        .add_source(
            "live",
            LIVE,
            hand_over=HandOver.offsets(),
            select="CAST(key AS STRING) AS id",
        )
        .build()
    )
    assert source.options() == {
        "source": "hybrid",
        "legs": "history,live",
        "history.source": "files",
        "history.format": "parquet",
        "history.path": "/lake/orders/",
        "history.select": "id",
        "live.source": "kafka",
        "live.kafka.bootstrap.servers": "broker:9092",
        "live.subscribe": "orders",
        "live.handOver": "offsets",
        "live.select": "CAST(key AS STRING) AS id",
    }
    assert not source.bounded


def test_options_of_the_whole_chain() -> None:
    source = (
        HybridSource.builder("history", HISTORY)
        .add_source("live", BOUNDED)
        .option("schema", "id STRING")
        .build()
    )
    assert source.options()["schema"] == "id STRING"
    assert source.bounded


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        (HandOver.offsets(), {"handOver": "offsets"}),
        (
            HandOver.offsets("t", partition="p", offset="o"),
            {
                "handOver": "offsets",
                "handOver.topic": "t",
                "handOver.partition": "p",
                "handOver.offset": "o",
            },
        ),
        (
            HandOver.event_time("ts", timedelta(minutes=10)),
            {
                "handOver": "eventTime",
                "handOver.column": "ts",
                "handOver.overlap": "10m",
            },
        ),
        (
            HandOver.modification_time("1 hour"),
            {"handOver": "modificationTime", "handOver.overlap": "1 hour"},
        ),
        (
            HandOver.now_minus(timedelta(days=2)),
            {"handOver": "nowMinus", "handOver.duration": "48h"},
        ),
    ],
)
def test_hand_over_rules_are_data(rule: HandOver, options: dict[str, str]) -> None:
    assert rule.options() == options


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (timedelta(0), "0h"),
        (timedelta(seconds=90), "90s"),
        (timedelta(milliseconds=1500), "1500ms"),
        (timedelta(microseconds=1), "1ms"),
        ("  INTERVAL 1 day 2 hours ", "INTERVAL 1 day 2 hours"),
        ("90s", "90s"),
    ],
)
def test_durations_are_text_with_units(given: timedelta | str, text: str) -> None:
    assert HandOver.now_minus(given).options()["handOver.duration"] == text


@pytest.mark.parametrize(
    "given",
    [
        timedelta(seconds=-1),
        "",
        " ",
        600,
        None,
    ],
)
def test_other_durations_are_rejected(given: str) -> None:
    with pytest.raises(OptionError, match=r"'overlap' is .*Set a timedelta"):
        HandOver.event_time("ts", given)


@pytest.mark.parametrize("column", ["", " ", None])
def test_a_hand_over_column_has_a_name(column: str) -> None:
    with pytest.raises(OptionError, match="'column' is"):
        HandOver.event_time(column, "1 hour")
    with pytest.raises(OptionError, match="'topic' is"):
        HandOver.offsets(topic=column)


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a.b", "ä", "a b", None, "a\n"])
def test_names_of_legs_are_plain(name: str) -> None:
    with pytest.raises(OptionError, match="is not a valid leg name, because the name is part"):
        HybridSource.builder(name, HISTORY).add_source("live", LIVE).build()


@pytest.mark.parametrize("name", ["kafka", "path", "slots", "handOver", "initial", "session"])
def test_a_leg_may_have_the_name_of_an_option(name: str) -> None:
    chain = HybridSource.builder("history", HISTORY).add_source(name, LIVE).build()
    assert f"{name}.source" in chain.options()


@pytest.mark.parametrize("name", ["legs", "source", "select", "handOver"])
def test_a_leg_named_as_a_chain_option_takes_options(name: str) -> None:
    builder = HybridSource.builder("history", HISTORY).add_source(name, LIVE)
    assert builder.option(f"{name}.onGap", "warn").build().options()[f"{name}.onGap"] == "warn"
    with pytest.raises(OptionError, match=f"Option '{name}' belongs to a hybrid source"):
        builder.option(name, "x").build()


def test_an_option_of_the_builder_replaces_the_option_of_a_leg() -> None:
    history = FileSource.builder("parquet", "/lake").option("maxFilesPerTrigger", 1).build()
    builder = HybridSource.builder("history", history).add_source("live", LIVE)
    options = builder.option("history.maxfilespertrigger", 50).build().options()
    assert {n.lower(): v for n, v in options.items() if "maxfiles" in n.lower()} == {
        "history.maxfilespertrigger": "50"
    }


@pytest.mark.parametrize("name", ["history", "History"])
def test_names_are_unique_regardless_of_case(name: str) -> None:
    with pytest.raises(OptionError, match=f"The leg names 'history' and '{name}'"):
        HybridSource.builder("history", HISTORY).add_source(name, LIVE).build()


def test_every_leg_but_the_last_is_bounded() -> None:
    chain = HybridSource.builder("first", LIVE).add_source("second", LIVE)
    with pytest.raises(OptionError, match=r"'first' is unbounded.*'second'.*ending_offsets"):
        chain.build()
    assert HybridSource.builder("first", BOUNDED).add_source("second", LIVE).build()


def test_an_option_of_the_chain_sets_the_end_of_a_leg() -> None:
    chain = HybridSource.builder("first", LIVE).add_source("second", LIVE)
    bounded = chain.option("FIRST.endingOffsets", "latest").option("second.endingOffsets", "latest")
    source = bounded.build()
    assert source.bounded
    assert source.then(LIVE, "third").options()["legs"] == "first,second,third"


def test_a_watched_folder_before_another_leg_needs_a_condition_for_its_end() -> None:
    folder = FileSource.builder("parquet", "/lake/orders/", discovery="watch")
    chain = HybridSource.builder("first", folder.build()).add_source("second", LIVE)
    with pytest.raises(OptionError, match=r"'first' is unbounded.*'second'.*end_when"):
        chain.build()
    assert folder.option("endWhen", "caughtUp").build().then(LIVE).options()["history.discovery"]
    assert chain.option("FIRST.endWhen", "caughtUp").build()
    assert chain.option("first.discovery", "list").build()
    alone = HybridSource.builder("first", HISTORY).option("first.discovery", "watch")
    assert not alone.build().bounded


@pytest.mark.parametrize(
    "start",
    ["earliest", OffsetsInitializer.timestamp(1), OffsetsInitializer.committed()],
)
def test_a_hand_over_and_a_start_exclude_each_other(
    start: str | OffsetsInitializer,
) -> None:
    live = (
        KafkaSource.builder().bootstrap_servers("b:1").topics("t").starting_offsets(start).build()
    )
    chain = HybridSource.builder("history", HISTORY)
    with pytest.raises(OptionError, match=r"'live' has a hand-over .'offsets'. and starting"):
        chain.add_source("live", live, hand_over=HandOver.offsets()).build()


def test_a_start_alone_is_fine() -> None:
    live = (
        KafkaSource.builder()
        .bootstrap_servers("b:1")
        .topics("t")
        .starting_offsets("earliest")
        .build()
    )
    chain = HybridSource.builder("history", HISTORY).add_source("live", live).build()
    assert chain.options()["live.startingOffsets"] == "earliest"


def test_files_take_no_hand_over() -> None:
    chain = HybridSource.builder("a", HISTORY)
    with pytest.raises(OptionError, match=r"'b' reads files.*Remove 'hand_over'"):
        chain.add_source("b", HISTORY, hand_over=HandOver.now_minus("1 hour")).build()


def test_modification_time_needs_files_before() -> None:
    chain = HybridSource.builder("a", BOUNDED)
    with pytest.raises(OptionError, match="previous leg 'a' reads neither files nor a table"):
        chain.add_source("b", LIVE, hand_over=HandOver.modification_time("1 hour")).build()


def test_a_chain_in_a_chain_is_rejected() -> None:
    inner = HybridSource.builder("a", HISTORY).add_source("b", BOUNDED).build()
    with pytest.raises(OptionError, match="'c' is a hybrid source"):
        HybridSource.builder("c", inner).add_source("live", LIVE).build()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "kafka"}, "'live' is a str, which is not a source"),
        ({"source": LIVE, "select": " "}, "'select' of leg 'live'"),
        ({"source": LIVE, "hand_over": "offsets"}, "'hand_over' of leg 'live'"),
    ],
)
def test_arguments_of_another_type(arguments: dict[str, object], message: str) -> None:
    chain = HybridSource.builder("history", HISTORY)
    with pytest.raises(OptionError, match=message):
        chain.add_source("live", **arguments).build()  # type: ignore[arg-type]


def test_secrets_of_a_leg_are_not_shown() -> None:
    live = (
        KafkaSource.builder()
        .bootstrap_servers("b:1")
        .topics("t")
        .option("kafka.sasl.jaas.config", "hunter2")
        .build()
    )
    source = HybridSource.builder("history", HISTORY).add_source("live", live).build()
    assert "hunter2" not in repr(source)
    assert "hunter2" not in source._repr_html_()
