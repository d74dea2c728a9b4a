# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Brokers that are killed during a certain request. The sink must have each produced id once."""

from __future__ import annotations

import uuid

from demo import orders
from faults.order_stream import OrderStream
from faults.world import World
from servers.network.kafka_requests import DESCRIBE_CLUSTER, OFFSET_COMMIT
from servers.waiting import wait_for


def test_killed_while_offsets_are_committed(stream: OrderStream, world: World) -> None:
    group = f"group-{uuid.uuid4().hex[:8]}"

    def held() -> dict[int, int]:
        found = stream.topics.committed(group, stream.topic)
        # The checkpoint is read after the group, so the group must not be ahead of the checkpoint.
        committed = stream.committed()
        assert all(offset <= committed[partition] for partition, offset in found.items())
        return found

    stream.produce(3_000)
    dead = world.kill_before(OFFSET_COMMIT)
    options = {"kafka.group.id": group, "commitToGroup": "true", "maxOffsetsPerTrigger": "300"}
    query = stream.start(None, **options)
    wait_for("a lost commit", dead.is_set)
    # A coordinator that is not ready yet would reject the commit, and the query would only log
    # this.
    world.proxy.cut()
    world.start()
    held()
    world.proxy.before_next(OFFSET_COMMIT, world.proxy.silence)
    world.proxy.heal()
    unanswered = wait_for("a commit whose response is lost", held)
    world.kill()
    world.proxy.heal()
    world.start()
    wait_for("the next commit", lambda: held() != unanswered)
    stream.produce(300)
    stream.wait_for_all(query)
    ends = {p: end for p, (_, end) in stream.topics.offsets(stream.topic).items()}
    # The sink has the rows of a batch before Spark commits the batch.
    wait_for("the commit of the last batch", lambda: stream.committed() == ends)
    query.stop()
    stream.assert_each_once()
    assert held() == ends


def test_killed_during_the_discovery_of_partitions(stream: OrderStream, world: World) -> None:
    stream.produce(300)
    query = stream.start(discoveryInterval="200ms")
    stream.wait_for_all(query)
    wait_for("a lost discovery request", world.kill_before(DESCRIBE_CLUSTER).is_set)
    world.start()
    stream.topics.add_partitions(stream.topic, orders.PARTITIONS + 1)
    stream.produce(300, partition=orders.PARTITIONS)
    stream.produce(300)
    stream.finish(query)
