# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One broker and one session per run, and a topic and folders per test."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from xdist.remote import Producer

import workers
from orders import archive, orders
from servers.kafka.cluster import KafkaCluster
from servers.kafka.topics import KafkaTopics
from sessions import session

MakeTopic = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort tests in the order in which workers run them."""
    items.sort(key=lambda item: workers.in_order(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> workers.Scheduler:
    """Return a scheduler that distributes tests by their shared servers."""
    return workers.Scheduler(config, log)


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaCluster]:
    """A Kafka cluster that no test stops."""
    with KafkaCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def other_kafka() -> Iterator[KafkaCluster]:
    """Another Kafka cluster that no test stops."""
    with KafkaCluster(heap="256m") as cluster:
        yield cluster


@pytest.fixture
def own_kafka() -> Iterator[KafkaCluster]:
    """A Kafka cluster that a test may stop and kill."""
    with KafkaCluster() as cluster:
        yield cluster


@pytest.fixture
def topics(kafka: KafkaCluster) -> KafkaTopics:
    """The topics of the Kafka cluster that no test stops."""
    return kafka.topics


@pytest.fixture
def make_topic(topics: KafkaTopics) -> MakeTopic:
    """Return a function that creates topics with unique names."""

    def make(partitions: int = 3, config: Mapping[str, str] | None = None) -> str:
        name = f"orders-{uuid.uuid4().hex[:8]}"
        topics.create(name, partitions, config)
        return name

    return make


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A classic session with Splice's jars and Spark's Kafka source, for this process."""
    started = session(tmp_path_factory.mktemp("spark"))
    started.sparkContext.setLogLevel("WARN")
    yield started
    started.stop()


@pytest.fixture
def history_path(tmp_path: Path) -> Path:
    """The folder of the archive."""
    return tmp_path / "history"


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic, history_path: Path) -> str:
    """A topic with 60 orders. The archive has 30 of these orders."""
    name = make_topic()
    topics.produce(name, orders(range(60), 3))
    archive(topics, name, history_path, {0: 10, 1: 10, 2: 10})
    return name
