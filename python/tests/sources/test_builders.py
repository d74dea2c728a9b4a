# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builders are immutable, and convert values of Python in the same way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from chain_legs import HISTORY, LIVE
from pyspark.sql.types import (
    ArrayType,
    DecimalType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from splice import (
    DynamicKafkaSource,
    FileSource,
    HandOver,
    HybridSource,
    KafkaSource,
    OptionError,
    TableSource,
)

KAFKA = KafkaSource.builder().bootstrap_servers("b:1").topics("t")
DYNAMIC = DynamicKafkaSource.builder().metadata_file("/streams.yaml").streams("s")
FILES = FileSource.builder("csv", "/a")
TABLE = TableSource.table("lake.sales.orders")
CHAIN = HybridSource.builder("history", HISTORY).add_source("live", LIVE)


@pytest.mark.parametrize(
    ("base", "change"),
    [
        (KAFKA, lambda b: b.option("slots", 2)),
        (KAFKA, lambda b: b.options({"slots": 2})),
        (KAFKA, lambda b: b.bootstrap_servers("c:1")),
        (KAFKA, lambda b: b.topics("u")),
        (KAFKA.starting_offsets("latest"), lambda b: b.starting_offsets("2026-01-01T00:00:00Z")),
        (KAFKA.ending_offsets("latest"), lambda b: b.ending_offsets("2026-01-01T00:00:00Z")),
        (KAFKA, lambda b: b.commit_to_group("g")),
        (KAFKA, lambda b: b.properties({"client.id": "c"})),
        (KAFKA, lambda b: b.json_values("id BIGINT")),
        (DYNAMIC, lambda b: b.streams("u")),
        (DYNAMIC, lambda b: b.metadata_file("/other.yaml")),
        (DYNAMIC, lambda b: b.metadata_url("https://streams/")),
        (DYNAMIC, lambda b: b.metadata_class("a.B", c=1)),
        (DYNAMIC, lambda b: b.metadata_service(dict)),
        (DYNAMIC, lambda b: b.single_cluster("east", "b:1")),
        (DYNAMIC, lambda b: b.starting_offsets("latest", stream="s")),
        (FILES, lambda b: b.schema("id INT")),
        (FILES, lambda b: b.on_empty("warn")),
        (TABLE, lambda b: b.where("id > 1")),
        (TABLE, lambda b: b.version_as_of(1)),
        (TABLE, lambda b: b.timestamp_as_of("2026-01-01")),
        (TABLE, lambda b: b.on_no_version("warn")),
        (TABLE, lambda b: b.slice_by("day")),
        (TABLE, lambda b: b.slice_every("1d")),
        (TABLE, lambda b: b.slices(7)),
        (TABLE, lambda b: b.max_bytes_per_trigger("8g")),
        (CHAIN, lambda b: b.option("slots", 2)),
        (HybridSource.builder("a", HISTORY), lambda b: b.add_source("b", HISTORY)),
    ],
)
def test_a_method_does_not_change_its_builder(base: Any, change: Callable[[Any], Any]) -> None:
    before = repr(base), dict(base._options)
    changed = change(base)
    assert type(changed) is type(base)
    assert (repr(base), dict(base._options)) == before
    assert repr(changed) != repr(base)


def test_two_sources_from_one_base() -> None:
    base = KafkaSource.builder().bootstrap_servers("b:1")
    orders, returns = base.topics("orders").build(), base.topics("returns").build()
    assert [one.options()["subscribe"] for one in (orders, returns)] == ["orders", "returns"]
    chain = HybridSource.builder("history", HISTORY)
    first = chain.add_source("live", LIVE, HandOver.offsets()).build()
    second = chain.add_source("live", LIVE).build()
    assert "live.handOver" in first.options()
    assert "live.handOver" not in second.options()


def test_the_text_of_a_builder_has_options_and_no_secrets() -> None:
    builder = KAFKA.option("kafka.sasl.jaas.config", "hunter2")
    assert repr(builder) == (
        "KafkaSourceBuilder(kafka.bootstrap.servers='b:1', subscribe='t', "
        "kafka.sasl.jaas.config='*********(redacted)')"
    )
    chain = HybridSource.builder("history", HISTORY).add_source("live", builder.build())
    assert "hunter2" not in repr(chain)


@pytest.mark.parametrize("base", [KAFKA, DYNAMIC])
def test_both_kafka_builders_have_the_same_words(base: Any) -> None:
    changed = (
        base.starting_offsets("earliest")
        .ending_offsets("latest")
        .commit_to_group("g")
        .properties({"client.id": "c"})
    )
    options = changed.build().options()
    added = {name: options[name] for name in options.keys() - base.build().options().keys()}
    assert added == {
        "startingOffsets": "earliest",
        "endingOffsets": "latest",
        "kafka.group.id": "g",
        "commitToGroup": "true",
        "kafka.client.id": "c",
    }


@pytest.mark.parametrize("base", [KAFKA, DYNAMIC])
def test_properties_with_and_without_the_prefix_are_equal(base: Any) -> None:
    names = ("security.protocol", "kafka.security.protocol")
    first, second = (base.properties({name: "SSL"}).build().options() for name in names)
    assert first == second
    assert first["kafka.security.protocol"] == "SSL"


@pytest.mark.parametrize("base", [KAFKA, DYNAMIC])
def test_json_values(base: Any) -> None:
    schema = StructType([StructField("id", LongType())])
    builder = base.json_values(schema, on_error="corrupt", timestampFormat="yyyy")
    assert builder._options.items() - base._options.items() == {
        ("valueFormat", "json"),
        ("valueSchema", "`id` BIGINT"),
        ("onParseError", "corrupt"),
        ("value.timestampFormat", "yyyy"),
    }
    assert "onParseError" not in base.json_values("id BIGINT")._options


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("discoveryInterval", timedelta(seconds=30), "30s"),
        ("kafka.request.timeout.ms", timedelta(seconds=3), "3000"),
        ("fetchOffset.retryIntervalMs", timedelta(seconds=1), "1000"),
        ("startingTimestamp", datetime(1970, 1, 1, 0, 0, 7, tzinfo=timezone.utc), "7000"),
        ("cluster.east.startingTimestamp", datetime(1970, 1, 2, tzinfo=timezone.utc), "86400000"),
        ("modifiedAfter", datetime(2026, 1, 1, 2, tzinfo=timezone.utc), "2026-01-01T02:00:00Z"),
        ("subscribe", ["a", "b"], "a,b"),
        ("kafka.ssl.enabled.protocols", ("TLSv1.2", "TLSv1.3"), "TLSv1.2,TLSv1.3"),
        ("paths", ["/a,b", "/c"], '["/a,b", "/c"]'),
        ("history.paths", ["/a"], '["/a"]'),
        ("paths", [Path("/a,b"), "/c"], '["/a,b", "/c"]'),
        ("modifiedAfter", datetime(1960, 1, 1, tzinfo=timezone.utc), "1960-01-01T00:00:00Z"),
        ("valueSchema", StructType([StructField("id", LongType())]), "`id` BIGINT"),
        ("slots", 3, "3"),
        ("includeHeaders", True, "true"),
    ],
)
def test_values_of_options(option: str, value: Any, text: str) -> None:
    assert KAFKA.option(option, value)._options[option] == text
    assert KAFKA.options({option: value})._options[option] == text
    assert FILES.option(option, value)._options[option] == text
    assert DYNAMIC.option(option, value)._options[option] == text
    assert CHAIN.option(option, value)._options[option] == text


def test_a_schema_as_ddl() -> None:
    inner = StructType([StructField("x-y", StringType(), False)])
    schema = StructType(
        [
            StructField("a`b", DecimalType(10, 2), False, {"comment": "it's \\ one"}),
            StructField("at", TimestampType()),
            StructField("list", ArrayType(inner)),
            StructField("map", MapType(StringType(), inner)),
        ]
    )
    assert KAFKA.option("valueSchema", schema)._options["valueSchema"] == (
        "`a``b` DECIMAL(10,2) NOT NULL COMMENT 'it\\'s \\\\ one', `at` TIMESTAMP, "
        "`list` ARRAY<STRUCT<`x-y`: STRING NOT NULL>>, "
        "`map` MAP<STRING, STRUCT<`x-y`: STRING NOT NULL>>"
    )


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        (None, "INVALID_OPTION_VALUE"),
        (object(), "INVALID_OPTION_VALUE"),
        (b"a", "INVALID_OPTION_VALUE"),
        (["a,b"], "INVALID_LIST"),
        (["a", 1], "INVALID_LIST"),
        ([" "], "INVALID_LIST"),
        (timedelta(seconds=-1), "INVALID_DURATION"),
        (datetime(2026, 1, 1), "TIME_ZONE_NOT_SET"),
    ],
)
def test_values_that_no_option_has(value: Any, condition: str) -> None:
    with pytest.raises(OptionError) as raised:
        KAFKA.option("x", value)
    assert raised.value.getCondition() == f"SPLICE_BUILDER.{condition}"
    assert raised.value.getSqlState() == "42616"
    assert raised.value.getMessageParameters()


def test_a_time_of_records_is_not_before_1970() -> None:
    with pytest.raises(OptionError, match="no Kafka record") as raised:
        KAFKA.option("startingTimestamp", datetime(1960, 1, 1, tzinfo=timezone.utc))
    assert raised.value.getCondition() == "SPLICE_BUILDER.INVALID_TIMESTAMP"


@pytest.mark.parametrize(
    ("option", "values", "message"),
    [
        ("subscribe", ["a,b"], "'a,b'. Set a list of strings that are not empty and contain no c"),
        ("subscribe", [Path("a")], "PosixPath.'a'.. Set a list of strings"),
        ("paths", [" "], "' '. Set a list of strings or objects of pathlib that are not empty. S"),
        ("paths", [1], "1. Set a list of strings or objects of pathlib"),
    ],
)
def test_the_error_of_a_list_names_the_values_of_its_option(
    option: str, values: Any, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        FILES.option(option, values)
