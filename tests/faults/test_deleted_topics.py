# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Requests of a query while one of its topics is deleted."""

from __future__ import annotations

import time

import pytest

from faults.order_stream import OrderStream
from faults.world import World
from servers.network.kafka_requests import DESCRIBE_CLUSTER, DESCRIBE_TOPICS, LIST_OFFSETS, METADATA

_TRIGGERS = 300


def _of_topics(world: World) -> int:
    kinds = (METADATA, DESCRIBE_CLUSTER, DESCRIBE_TOPICS)
    return sum(world.proxy.requests[kind] for kind in kinds)


@pytest.mark.parametrize("policy", ["drop", "drain"])
def test_no_burst_of_requests_for_a_deleted_topic(
    stream: OrderStream, world: World, policy: str
) -> None:
    other = f"{stream.topic}-other"
    world.topics.create(other)
    topics = f"{stream.topic},{other}"
    query = stream.start(subscribe=topics, onTopicRemoved=policy, failOnDataLoss="false")
    stream.produce(300)
    stream.wait_for_all(query)
    world.topics.delete(other)
    for _ in range(3):
        stream.produce(100)
        stream.wait_for_all(query)
    # An idle trigger requests end offsets, so the number of these requests equals the number of
    # triggers.
    ends, before, begun = world.proxy.requests[LIST_OFFSETS], _of_topics(world), time.monotonic()
    stream.wait_until(
        query,
        f"{_TRIGGERS} triggers",
        lambda: world.proxy.requests[LIST_OFFSETS] >= ends + _TRIGGERS,
    )
    seconds = time.monotonic() - begun
    sent = _of_topics(world) - before
    # The driver requests topics once per second, and topics and cluster every 10 seconds.
    assert sent <= 3 * seconds + 10, f"{sent} requests in {seconds:.1f} s"
    stream.finish(query)
