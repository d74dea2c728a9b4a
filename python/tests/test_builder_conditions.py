# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each error condition of Python's builders. Most types are wrong on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import splice
from splice import (
    DynamicKafkaSource,
    FileSource,
    HandOver,
    HybridSource,
    KafkaSource,
    OffsetsInitializer,
    OptionError,
    QueryDescription,
    SourceSpec,
    TableSource,
    watch,
)

DECLARED = Path(splice.__file__).parent / "_internal" / "error-conditions.json"
FILES = FileSource.builder("parquet", "/lake/orders").build()


def kafka() -> Any:
    """Return a complete builder of a Kafka source, without types."""
    return KafkaSource.builder().bootstrap_servers("127.0.0.1:1").topics("orders")


def dynamic() -> Any:
    """Return a complete builder of a source of many clusters, without types."""
    return DynamicKafkaSource.builder().metadata_file("/config/streams.yaml").streams("orders")


def chain(
    first: SourceSpec | None = None,
    then: SourceSpec | None = None,
    rule: Any = None,
    select: Any = None,
    name: Any = "live",
    **policies: Any,
) -> None:
    """Build a hybrid of two legs."""
    builder = HybridSource.builder("history", first or FILES)
    builder.add_source(name, then or kafka().build(), rule, select, **policies).build()


def _cases() -> dict[str, Callable[[], object]]:
    offsets: Any = OffsetsInitializer
    rules: Any = HandOver
    files: Any = FileSource.builder
    bounded = kafka().ending_offsets("latest").build()
    return {
        "AMBIGUOUS_SELECTION": lambda: kafka().option("subscribePattern", "o.*").build(),
        "DUPLICATE_LEG_NAME": lambda: chain(name="History"),
        "DUPLICATE_PATHS": lambda: files("parquet", "/a").option("paths", '["/b"]').build(),
        "DUPLICATE_START": lambda: chain(
            then=kafka().starting_offsets("latest").build(), rule=rules.offsets()
        ),
        "EARLIEST_END_NOT_SUPPORTED": lambda: kafka().ending_offsets(
            offsets.offsets({"orders": {0: -2}})
        ),
        "EMPTY_PATH": lambda: files("parquet", " ").build(),
        "EMPTY_SCHEMA": lambda: files("parquet", "/a").schema(" "),
        "END_NOT_SUPPORTED": lambda: kafka().ending_offsets("earliest"),
        "FORMAT_IS_PATH": lambda: files("/lake/orders").build(),
        "FORMAT_NOT_SET": lambda: files("", "/a").build(),
        "HAND_OVER_NOT_SUPPORTED": lambda: chain(then=FILES, rule=rules.offsets()),
        "INVALID_CLASS_NAME": lambda: dynamic().metadata_class(" "),
        "INVALID_COLUMN_NAME": lambda: rules.offsets(topic=""),
        "INVALID_COMMITTED_POLICY": lambda: offsets.committed("none"),
        "INVALID_DURATION": lambda: rules.now_minus(timedelta(seconds=-1)),
        "INVALID_GROUP": lambda: kafka().commit_to_group(" "),
        "INVALID_HAND_OVER": lambda: chain(rule="offsets"),
        "INVALID_LEG_NAME": lambda: chain(name="2live"),
        "INVALID_LEG_NAMES": lambda: FILES.then(kafka().build(), names="live"),  # type: ignore[arg-type]
        "INVALID_LEG_SELECT": lambda: FILES.then(kafka().build(), select={"other": "id"}),
        "INVALID_LIST": lambda: kafka().option("subscribe", ["a,b"]),
        "INVALID_LOG_COLUMNS": lambda: (
            HybridSource.builder("history", FILES, log_columns="all")
            .add_source("live", kafka().build(), rules.offsets())
            .build()
        ),
        "INVALID_METADATA_SERVICE": lambda: dynamic().metadata_service("inventory"),
        "INVALID_OFFSET": lambda: offsets.offsets({"orders": {0: -5}}),
        "INVALID_OFFSETS": lambda: offsets.offsets({}),
        "INVALID_OPTION_NAME": lambda: kafka().option("", 1),
        "INVALID_OPTION_VALUE": lambda: kafka().option("slots", object()),
        "INVALID_PATH": lambda: files("parquet", 12).build(),
        "INVALID_POLICY": lambda: chain(rule=rules.offsets(), on_gap="skip"),
        "INVALID_POSITION": lambda: kafka().starting_offsets("first"),
        "INVALID_RULE": lambda: rules.custom(12),
        "INVALID_SCHEMA": lambda: files("parquet", "/a").schema(12),
        "INVALID_SELECT": lambda: chain(select=" "),
        "INVALID_SERVER": lambda: kafka().bootstrap_servers(9092),
        "INVALID_SOURCE": lambda: chain(then="orders"),  # type: ignore[arg-type]
        "INVALID_STREAM": lambda: dynamic().starting_offsets("latest", stream=" "),
        "INVALID_STREAM_NAME": lambda: dynamic().streams("a,b"),
        "INVALID_TABLE": lambda: QueryDescription("q", None, ()).to_pandas("files"),  # type: ignore[arg-type]
        "INVALID_TIMESTAMP": lambda: offsets.timestamp(-1),
        "INVALID_TIMESTAMP_TEXT": lambda: offsets.timestamp("yesterday"),
        "INVALID_TIMESTAMP_TYPE": lambda: offsets.timestamp(1.5),
        "INVALID_TIME_SPAN": lambda: watch(None, refresh="1s"),  # type: ignore[arg-type]
        "INVALID_TOPIC_NAME": lambda: kafka().topics("a,b"),
        "INVALID_TOPIC_OFFSETS": lambda: offsets.offsets({"orders": 12}),
        "METADATA_SERVICE_NOT_SET": lambda: DynamicKafkaSource.builder().streams("a").build(),
        "MODIFICATION_TIME_NOT_FOUND": lambda: chain(
            first=bounded, rule=rules.modification_time("1h")
        ),
        "NESTED_HYBRID": lambda: chain(then=HybridSource.builder("inner", FILES).build()),
        "OPTION_OF_HYBRID": lambda: kafka().option("handOver", "offsets").build(),
        "POLICY_WITHOUT_HAND_OVER": lambda: chain(on_gap="warn"),
        "SERVERS_NOT_SET": lambda: KafkaSource.builder().topics("orders").build(),
        "TABLE_FORMAT_NOT_SUPPORTED": lambda: files("delta", "/lake/orders").build(),
        "TABLE_NOT_SET": lambda: TableSource.table(" "),
        "TIME_ZONE_NOT_SET": lambda: offsets.timestamp("2026-01-31T00:00:00"),
        "UNBOUNDED_LEG": lambda: chain(first=kafka().build()),
    }


CASES = _cases()


@pytest.mark.parametrize("condition", CASES)
def test_the_condition_of_an_error(condition: str) -> None:
    with pytest.raises(OptionError) as raised:
        CASES[condition]()
    assert raised.value.getCondition() == f"SPLICE_BUILDER.{condition}"


def test_each_condition_has_a_case() -> None:
    declared = json.loads(DECLARED.read_text("utf-8"))["SPLICE_BUILDER"]["subClass"]
    assert sorted(CASES) == sorted(declared)
