# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A broker that accepts connections and never responds, before a query has read a row."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from faults.world import World
from orders import archive, assert_each_once, history, history_then_live, ids, orders
from refusals import assert_says
from servers.waiting import PATIENCE, wait_for
from splice import HybridSource, KafkaSource, SourceError
from streams import drain, start, start_to_drain, written

_CLIENT = {"kafka.request.timeout.ms": "1000", "kafka.default.api.timeout.ms": "3000"}

_NAMED = (
    r"SPLICE_KAFKA_CONNECTION\.BROKERS_UNAVAILABLE",
    "Leg 'live'",
    "Check 'live.kafka.bootstrap.servers', the network and the brokers",
)


@pytest.fixture
def source(world: World, history_path: Path) -> Iterator[HybridSource]:
    """History of 30 orders, then a topic of 60 orders at a proxy that does not respond."""
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    world.topics.create(topic, 3)
    world.topics.produce(topic, orders(range(60), 3))
    archive(world.topics, topic, history_path, {0: 10, 1: 10, 2: 10})
    then = KafkaSource.builder().bootstrap_servers(world.servers).topics(topic)
    world.proxy.silence()
    yield history_then_live(history(history_path), then.options(**_CLIENT).build())
    world.proxy.heal()


@pytest.mark.parametrize("scan", [False, True])
def test_a_plan_ends_with_an_error_that_names_the_leg(
    spark: SparkSession, world: World, source: HybridSource, scan: bool
) -> None:
    # Without the limits of the client, the query would wait for ten minutes.
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(source.plan, spark, scan).exception(PATIENCE)
    assert isinstance(error, SourceError)
    assert_says(str(error), *_NAMED)
    world.proxy.heal()
    assert [leg.name for leg in source.plan(spark, scan).legs] == ["history", "live"]


@pytest.mark.parametrize("run", [start, start_to_drain])
def test_a_first_start_ends_with_an_error_that_names_the_leg(  # type: ignore[no-untyped-def]
    spark: SparkSession, world: World, source: HybridSource, tmp_path: Path, run
) -> None:
    query = run(source.read_stream(spark), tmp_path)
    try:
        error = wait_for("the error", query.exception)
    finally:
        query.stop()
    assert_says(str(error), *_NAMED)
    assert not (tmp_path / "checkpoint" / "offsets" / "0").exists()
    world.proxy.heal()
    drain(source.read_stream(spark), tmp_path)
    assert_each_once(ids(written(spark, tmp_path)), range(60))
