# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builder of a source over many clusters, without a JVM."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from splice import DynamicKafkaSource, DynamicKafkaSourceBuilder, OffsetsInitializer, OptionError
from splice.dynamic_kafka import _document


@pytest.fixture
def builder() -> DynamicKafkaSourceBuilder:
    return DynamicKafkaSource.builder().metadata_file("/config/streams.yaml").streams("orders")


def test_options_equal_the_options_of_the_format(builder: DynamicKafkaSourceBuilder) -> None:
    source = (
        builder.commit_to_group("report")
        .properties({"security.protocol": "SSL"})
        .starting_offsets("earliest")
        .option("cluster.east.kafka.client.id", "me")
        .build()
    )
    assert source.options() == {
        "source": "dynamicKafka",
        "metadata.file": "/config/streams.yaml",
        "streams": "orders",
        "kafka.group.id": "report",
        "commitToGroup": "true",
        "kafka.security.protocol": "SSL",
        "startingOffsets": "earliest",
        "cluster.east.kafka.client.id": "me",
    }
    assert not source.bounded


def test_an_end_makes_it_bounded(builder: DynamicKafkaSourceBuilder) -> None:
    assert builder.ending_offsets(OffsetsInitializer.latest()).build().bounded


def test_a_stream_may_start_elsewhere(builder: DynamicKafkaSourceBuilder) -> None:
    source = (
        builder.starting_offsets("earliest")
        .starting_offsets("latest", stream="orders")
        .starting_offsets(OffsetsInitializer.timestamp(7), stream="orders")
        .build()
    )
    starts = {k: v for k, v in source.options().items() if "tarting" in k}
    assert starts == {"startingOffsets": "earliest", "stream.orders.startingTimestamp": "7"}
    with pytest.raises(OptionError, match="is not a valid stream name"):
        builder.starting_offsets("latest", stream=" ")


@pytest.mark.parametrize(
    ("name", "is_start"),
    [
        ("startingTimestamp", True),
        ("stream.orders.startingTimestamp", True),
        ("cluster.east.startingOffsets", True),
        ("cluster.east.kafka.client.id", False),
    ],
)
def test_start_is_set_for_each_kind_of_start(
    builder: DynamicKafkaSourceBuilder, name: str, is_start: bool
) -> None:
    assert builder.option(name, "7").build()._start_is_set == is_start


def test_a_class_is_a_service_with_options() -> None:
    source = (
        DynamicKafkaSource.builder()
        .metadata_class("com.example.Inventory", region="eu")
        .streams("orders")
        .build()
    )
    assert source.options() == {
        "source": "dynamicKafka",
        "metadata.class": "com.example.Inventory",
        "metadata.class.region": "eu",
        "streams": "orders",
    }
    with pytest.raises(OptionError, match="' ' is not a valid class name"):
        DynamicKafkaSource.builder().metadata_class(" ")


def test_one_cluster_is_a_service_too() -> None:
    source = DynamicKafkaSource.builder().single_cluster("east", "b:9092").stream_pattern("^o")
    assert source.build().options()["metadata.cluster"] == "east"


def test_lists_of_names_and_of_servers() -> None:
    source = DynamicKafkaSource.builder().single_cluster("east", ["b1:1", "b2:1"])
    options = source.streams(["a", "b"]).build().options()
    assert (options["kafka.bootstrap.servers"], options["streams"]) == ("b1:1,b2:1", "a,b")


def test_a_builder_keeps_its_service(builder: DynamicKafkaSourceBuilder) -> None:
    with_service = builder.metadata_service(dict)
    assert with_service.build()._service is dict
    assert builder.build()._service is None
    assert "metadata.python" not in builder.build().options()


def test_a_time_is_a_start_of_a_stream(builder: DynamicKafkaSourceBuilder) -> None:
    source = builder.starting_offsets("1970-01-01T00:00:07Z", stream="orders").build()
    assert source.options()["stream.orders.startingTimestamp"] == "7000"


def test_the_last_selection_replaces_the_other(builder: DynamicKafkaSourceBuilder) -> None:
    pattern = builder.stream_pattern("o.*").build().options()
    assert ("streams" in pattern, pattern["streamPattern"]) == (False, "o.*")
    names = builder.stream_pattern("o.*").streams("a").build().options()
    assert ("streamPattern" in names, names["streams"]) == (False, "a")


def test_streams_and_a_service_are_needed(builder: DynamicKafkaSourceBuilder) -> None:
    with pytest.raises(OptionError, match="exactly one of the options streams, streamPattern"):
        builder.option("streamPattern", "o.*").build()
    with pytest.raises(OptionError, match="exactly one of the options streams, streamPattern"):
        DynamicKafkaSource.builder().metadata_url("http://streams/").build()
    with pytest.raises(OptionError, match="needs a metadata service"):
        DynamicKafkaSource.builder().streams("orders").build()
    with pytest.raises(OptionError, match="is not a valid stream name"):
        builder.streams("a,b")


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({"clusters": {False: {}}}, "name False at 'clusters'"),
        ({"clusters": {7: {}}}, "name 7 at 'clusters'"),
        ({"streams": {"s": {"east": [2026]}}}, "item 2026 at 'streams.s.east'"),
        ({"streams": {"s": {"east": [date(2026, 1, 31)]}}}, "at 'streams.s.east'"),
        ({"stops": {"s": {"timestamp": date(2026, 1, 31)}}}, "at 'stops.s.timestamp'"),
        ({"starts": {"s": {"offsets": {"t": {True: 1}}}}}, "name True at 'starts.s.offsets.t'"),
    ],
)
def test_names_of_a_document_are_texts(metadata: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        _document(lambda: metadata)


def test_a_document_of_a_function_is_json() -> None:
    metadata = {"version": 1, "starts": {"s": {"offsets": {"t": {0: 5}}}}, "clusters": {"a": None}}
    assert _document(lambda: metadata) == (
        '{"version": 1, "starts": {"s": {"offsets": {"t": {"0": 5}}}}, "clusters": {"a": null}}'
    )
    assert _document(lambda: "version: 1") == "version: 1"
