# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of a Kafka query at durable steps of a batch. No row is lost or duplicated."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from kill.backend.sample import REAL
from kill.killing import Kill
from kill.query import BATCH, OURS
from kill.relay import Relay
from servers.kafka.topics import KafkaTopics

# The step of a kill, and the newest batches in the offset log and in the commit log at this step.
# Each run begins with the uncommitted batch of the previous run, on another number of cores. Soak
# has all other steps and other triggers.
_HALT = REAL["group"].action
STEPS = (
    (1, Kill.entry("slots-00000000", "after", _HALT), -1, -1),
    # Spark calls commit of the source right after the next batch's entry in the log.
    (2, Kill.offsets(1, "after", "signal"), 1, 0),
    (4, Kill("row", "order", nth=BATCH * 3 // 2, action=_HALT), 2, 1),
    (3, Kill.sink(3, action=_HALT), 3, 2),
    (2, Kill.commits(4, action="signal"), 4, 3),
)


@pytest.fixture
def relay(topics: KafkaTopics, tmp_path: Path) -> Relay:
    """An empty topic, and a query that commits to a group and is not started."""
    created = Relay(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path)
    group = {"commitToGroup": "true", "kafka.group.id": created.topic}
    created.given(options={"startingOffsets": "earliest", **group})
    return created


def test_killed_at_each_kind_of_step(relay: Relay) -> None:
    relay.given(trigger={"processingTime": "0 seconds"})
    relay.produce(6 * BATCH)
    for cores, kill, planned, committed in STEPS:
        relay.given(master=f"local[{cores}]")
        _die(relay, kill, planned, committed)
    relay.start(OURS).finish()
    _assert_complete(relay)


def _die(relay: Relay, kill: Kill, planned: int, committed: int) -> None:
    relay.die(OURS, kill)
    assert (relay.checkpoint.planned(), relay.checkpoint.committed()) == (planned, committed)
    held = relay.committed()
    offsets = relay.topics.committed(relay.topic, relay.topic)
    assert all(offset <= held.get(partition, 0) for partition, offset in offsets.items()), offsets


def _assert_complete(relay: Relay) -> None:
    relay.assert_each_once()
    ends = {p: end for p, (_, end) in relay.topics.offsets(relay.topic).items()}
    assert relay.topics.committed(relay.topic, relay.topic) == ends
