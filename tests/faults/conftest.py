# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Queries that end with their test, a gate, and a broker with a proxy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from faults.gate import Gate
from faults.order_stream import OrderStream
from faults.world import World, proxied_broker


@pytest.fixture(autouse=True)
def no_query_stays(spark: SparkSession) -> Iterator[None]:
    """Stop the queries of a failed test before its servers stop."""
    yield
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A closed gate. The fixture opens the gate at the end, so that no task waits."""
    closed = Gate(tmp_path / "gate")
    yield closed
    closed.open()


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A broker with a proxy. A test that kills the broker must restart the broker."""
    with proxied_broker(tmp_path_factory.mktemp("broker")) as started:
        yield started


@pytest.fixture
def stream(spark: SparkSession, world: World, tmp_path: Path) -> Iterator[OrderStream]:
    """A query through the proxy. The fixture heals the proxy after the test."""
    yield OrderStream(spark, world.topics, tmp_path, world.servers)
    world.proxy.heal()
