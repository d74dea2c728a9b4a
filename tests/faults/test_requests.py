# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A broker that is killed with a certain request on its way: ids out are ids in."""

from __future__ import annotations

import uuid

from demo import orders
from faults.order_stream import OrderStream
from faults.world import World
from servers.kafka_requests import DESCRIBE_CLUSTER, OFFSET_COMMIT
from servers.waiting import wait_for


def test_killed_while_offsets_are_committed(stream: OrderStream, world: World) -> None:
    group = f"group-{uuid.uuid4().hex[:8]}"

    def held() -> dict[int, int]:
        found = stream.topics.committed(group, stream.topic)
        # Asked for later than the group, so it may be ahead, and must not be behind.
        committed = stream.committed()
        assert all(offset <= committed[partition] for partition, offset in found.items())
        return found

    stream.produce(3_000)
    dead = world.kill_before(OFFSET_COMMIT)
    options = {"kafka.group.id": group, "commitToGroup": "true", "maxOffsetsPerTrigger": "300"}
    query = stream.start(None, **options)
    wait_for("a commit that gets lost", dead.is_set)
    # A coordinator that is not ready yet would refuse the commit, and nobody would hear of that.
    world.proxy.cut()
    world.start()
    held()
    world.proxy.before_next(OFFSET_COMMIT, world.proxy.silence)
    world.proxy.heal()
    unanswered = wait_for("a commit whose answer gets lost", held)
    world.kill()
    world.proxy.heal()
    world.start()
    wait_for("the next commit", lambda: held() != unanswered)
    stream.produce(300)
    stream.wait_for_all(query)
    ends = {p: end for p, (_, end) in stream.topics.offsets(stream.topic).items()}
    # The sink has rows before Spark has written down that their batch is committed.
    wait_for("the last batch to be committed", lambda: stream.committed() == ends)
    query.stop()
    stream.assert_each_once()
    assert held() == ends


def test_killed_while_partitions_are_looked_for(stream: OrderStream, world: World) -> None:
    stream.produce(300)
    query = stream.start(discoveryInterval="200ms")
    stream.wait_for_all(query)
    wait_for("a look that gets lost", world.kill_before(DESCRIBE_CLUSTER).is_set)
    world.start()
    stream.topics.add_partitions(stream.topic, orders.PARTITIONS + 1)
    stream.produce(300, partition=orders.PARTITIONS)
    stream.produce(300)
    stream.finish(query)
