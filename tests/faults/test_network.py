# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A network that is slow, cut or half-open: ids out are ids in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from faults.gate import Gate
from faults.order_stream import OrderStream
from servers.fault_proxy import FaultProxy
from servers.kafka_node import ProcessNode
from servers.kafka_settings import behind_a_proxy, new_cluster_id
from servers.kafka_topics import KafkaTopics
from servers.ports import free_ports
from servers.waiting import wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = 40_000


class World(NamedTuple):
    """A broker, and the proxy before it."""

    topics: KafkaTopics
    proxy: FaultProxy
    servers: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A broker that some clients reach directly and others through a proxy."""
    direct, controller, proxied, listen = free_ports(4)
    cluster_id = new_cluster_id()
    settings = behind_a_proxy(direct, controller, proxied, listen)
    folder = tmp_path_factory.mktemp("broker")
    node = ProcessNode(folder, cluster_id, settings, "512m", ports=(direct, controller))
    topics = KafkaTopics(f"127.0.0.1:{direct}")
    node.start()
    try:
        wait_for("Kafka to be ready", lambda: topics.cluster_id(timeout=1) == cluster_id)
        with FaultProxy(listen, proxied) as proxy:
            yield World(topics, proxy, f"127.0.0.1:{listen}")
    finally:
        node.remove()


@pytest.fixture
def stream(spark: SparkSession, world: World, tmp_path: Path) -> Iterator[OrderStream]:
    """A query through the proxy, which is good again afterwards."""
    yield OrderStream(spark, world.topics, tmp_path, world.servers)
    world.proxy.heal()


def test_answers_that_take_200_ms(stream: OrderStream, world: World) -> None:
    stream.produce(2_000)
    world.proxy.slow(0.2)
    query = stream.start(maxOffsetsPerTrigger="1500")
    stream.wait_for_all(query)
    stream.produce(500)
    stream.finish(query)


def test_cut_while_a_batch_is_read(stream: OrderStream, world: World, gate: Gate) -> None:
    stream.produce(_ROWS)
    query = stream.start(gate)
    gate.wait()
    world.proxy.cut()
    gate.open()
    stream.produce(100)
    world.proxy.heal()
    stream.finish(query)


def test_half_open_while_a_batch_is_read(stream: OrderStream, world: World, gate: Gate) -> None:
    stream.produce(_ROWS)
    query = stream.start(gate)
    gate.wait()
    world.proxy.silence()
    gate.open()
    # Clients give up on their requests, connect again, and meet the same silence.
    assert query.awaitTermination(6) is False
    world.proxy.heal()
    stream.produce(100)
    stream.finish(query)


def test_cut_while_nothing_is_to_be_read(stream: OrderStream, world: World) -> None:
    stream.produce(300)
    query = stream.start(discoveryInterval="200ms")
    stream.wait_for_all(query)
    world.proxy.cut()
    # Triggers and discovery go on all the while.
    assert query.awaitTermination(5) is False
    stream.produce(300)
    world.proxy.heal()
    stream.finish(query)
