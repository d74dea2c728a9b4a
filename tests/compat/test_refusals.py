# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options that both sources reject, in a stream or in a batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.errors import IllegalArgumentException, PySparkException

from compat.pair import OURS, SIDES, SPARKS, Pair, records
from servers.kafka.cluster import KafkaCluster
from streams import drain

TOPIC = "{topic}"

GENERAL: list[dict[str, str]] = [
    {"subscribe": ""},
    {"subscribe": " , "},
    {"subscribePattern": " "},
    {"assign": ""},
    {"assign": "orders"},
    {"assign": '{"orders":"all"}'},
    {"subscribe": TOPIC, "subscribePattern": "orders.*"},
    {"subscribe": TOPIC, "assign": '{"orders":[0]}'},
    {},
    {"subscribe": TOPIC, "kafka.auto.offset.reset": "latest"},
    {"subscribe": TOPIC, "kafka.key.deserializer": "a.B"},
    {"subscribe": TOPIC, "kafka.value.deserializer": "a.B"},
    {"subscribe": TOPIC, "kafka.enable.auto.commit": "true"},
    {"subscribe": TOPIC, "kafka.interceptor.classes": "a.B"},
    {"subscribe": TOPIC, "startingOffsets": "soon"},
    {"subscribe": TOPIC, "startingOffsets": '{"t":{"x":1}}'},
    {"subscribe": TOPIC, "startingTimestamp": "yesterday"},
    {"subscribe": TOPIC, "startingOffsetsByTimestamp": "yesterday"},
    {"subscribe": TOPIC, "startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "any"},
    {"subscribe": TOPIC, "includeHeaders": "perhaps"},
    {"subscribe": TOPIC, "failOnDataLoss": "perhaps"},
    {"subscribe": TOPIC, "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"},
    {"subscribe": TOPIC, "kafkaConsumer.pollTimeoutMs": "long"},
    {"subscribe": TOPIC, "fetchOffset.numRetries": "often"},
]
STREAM = [
    *GENERAL,
    {"subscribe": TOPIC, "maxOffsetsPerTrigger": "many"},
    {"subscribe": TOPIC, "minOffsetsPerTrigger": "few"},
    {"subscribe": TOPIC, "maxTriggerDelay": "long"},
    {"subscribe": TOPIC, "startingOffsets": '{"{topic}":{"0":0,"7":0}}'},
    {"subscribe": TOPIC, "startingOffsets": "{}"},
    {"subscribe": TOPIC, "startingTimestamp": "99999999999999"},
    {"subscribe": "orders-that-nobody-made", "fetchOffset.retryIntervalMs": "10"},
]
BATCH = [
    *GENERAL,
    {"subscribe": TOPIC, "startingOffsets": "latest"},
    {"subscribe": TOPIC, "startingOffsets": '{"{topic}":{"0":-1}}'},
    {"subscribe": TOPIC, "endingOffsets": "earliest"},
    {"subscribe": TOPIC, "endingOffsets": '{"{topic}":{"0":-2}}'},
    {"subscribe": TOPIC, "endingOffsets": "late"},
    {"subscribe": TOPIC, "endingOffsetsByTimestamp": "late"},
    {"subscribe": TOPIC, "endingTimestamp": "late"},
    {
        "subscribe": TOPIC,
        "startingOffsets": '{"{topic}":{"0":2}}',
        "endingOffsets": '{"{topic}":{"0":1}}',
    },
    {"subscribe": TOPIC, "endingOffsets": '{"{topic}":{"0":0,"7":0}}'},
    {"subscribe": TOPIC, "startingTimestamp": "99999999999999"},
]


@pytest.fixture(scope="module")
def topic(kafka: KafkaCluster) -> str:
    """Create a topic with three records, to which no test writes."""
    name = "refused-orders"
    kafka.topics.create(name)
    kafka.topics.produce(name, records(0, range(3)))
    return name


@pytest.mark.parametrize("options", STREAM, ids=str)
def test_streams(pair: Pair, topic: str, options: dict[str, str]) -> None:
    given = _with(topic, options)
    _both_refuse(lambda side: drain(pair.stream(side, given), pair.folder / side))


@pytest.mark.parametrize("options", BATCH, ids=str)
def test_batches(pair: Pair, topic: str, options: dict[str, str]) -> None:
    given = _with(topic, options)
    _both_refuse(lambda side: pair.batch(side, given).collect())


@pytest.mark.parametrize("side", SIDES)
def test_without_servers(pair: Pair, topic: str, side: str) -> None:
    reader = pair.spark.read.format(side).option("subscribe", topic)
    with pytest.raises(IllegalArgumentException, match=r"kafka\.bootstrap\.servers"):
        reader.load().collect()


def test_a_schema(pair: Pair, topic: str) -> None:
    given = {"kafka.bootstrap.servers": pair.topics.bootstrap_servers, "subscribe": topic}
    for side in SIDES:
        with pytest.raises(PySparkException, match=r"(?i)schema"):
            pair.spark.read.format(side).schema("value STRING").options(**given).load().collect()


def _with(topic: str, options: dict[str, str]) -> dict[str, str]:
    return {key: value.replace(TOPIC, topic) for key, value in options.items()}


def _both_refuse(run: Callable[[str], object]) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        run(SPARKS)
    with pytest.raises(PySparkException, match="SPLICE_") as ours:
        run(OURS)
    # Code that catches Spark's exception must also catch Splice's exception.
    if isinstance(theirs.value, IllegalArgumentException):
        assert isinstance(ours.value, IllegalArgumentException)
