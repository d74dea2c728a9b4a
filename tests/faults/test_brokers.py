# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Brokers that are killed and started again. The sink must have each produced id once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from faults.fetched import Fetched
from faults.gate import Gate
from faults.order_stream import OrderStream
from faults.world import World
from servers.kafka.brokers import KafkaBrokers
from sessions import RACK

_ROWS = 40_000


@pytest.fixture(scope="module")
def brokers() -> Iterator[KafkaBrokers]:
    """Three brokers."""
    with KafkaBrokers() as started:
        yield started


def test_killed_while_a_batch_is_read(stream: OrderStream, world: World, gate: Gate) -> None:
    stream.produce(_ROWS)
    query = stream.start(gate)
    gate.wait()
    world.kill()
    gate.open()
    world.start()
    stream.produce(100)
    stream.finish(query)


def test_killed_while_nothing_is_to_be_read(stream: OrderStream, world: World) -> None:
    stream.produce(300)
    query = stream.start(discoveryInterval="200ms")
    stream.wait_for_all(query)
    before = world.proxy.refused
    world.kill()
    # Clients open at most two connections per second.
    stream.wait_until(
        query, "requests without a broker", lambda: world.proxy.refused >= before + 10
    )
    world.start()
    stream.produce(300)
    stream.finish(query)


def test_leaders_move_while_a_batch_is_read(
    spark: SparkSession, brokers: KafkaBrokers, tmp_path: Path, gate: Gate
) -> None:
    stream = OrderStream(spark, brokers.topics, tmp_path, replicas=3)
    stream.produce(_ROWS)
    query = stream.start(gate)
    gate.wait()
    brokers.kill(1)
    gate.open()
    stream.produce(1_000)
    stream.wait_for_all(query)
    brokers.start(1)
    stream.produce(1_000)
    stream.finish(query)


def test_brokers_die_one_after_the_other(
    spark: SparkSession, brokers: KafkaBrokers, tmp_path: Path
) -> None:
    stream = OrderStream(spark, brokers.topics, tmp_path, replicas=3)
    query = stream.start(discoveryInterval="200ms", maxOffsetsPerTrigger="700")
    for number in range(3):
        stream.produce(2_000)
        brokers.kill(number)
        stream.produce(2_000)
        brokers.start(number)
    stream.finish(query)


@pytest.mark.parametrize(
    ("nearest", "options"),
    [(None, {}), (1, {"rackFrom": f"conf:{RACK}"}), (2, {"kafka.client.rack": "rack-2"})],
)
def test_records_are_read_from_the_replica_in_the_same_rack(
    spark: SparkSession,
    brokers: KafkaBrokers,
    tmp_path: Path,
    nearest: int | None,
    options: dict[str, str],
) -> None:
    stream = OrderStream(spark, brokers.topics, tmp_path, replicas=3)
    stream.produce(_ROWS)
    query = stream.start(None, **options)
    stream.wait_for_all(query)
    fetched = Fetched(spark, stream.topic)
    preferred, came = fetched.preferred(), fetched.bytes_of()
    stream.finish(query)
    by_broker = [came[number] for number in range(3)]
    if nearest is None:
        assert preferred == {-1}
        assert min(by_broker) > max(by_broker) / 20
    else:
        # A leader is the first to have the records only if consumers read from this leader.
        assert preferred <= {nearest, -1}
        assert nearest in preferred
        assert came[nearest] > 0.9 * sum(by_broker)
