# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A network that is slow, cut or half-open: ids out are ids in."""

from __future__ import annotations

from faults.gate import Gate
from faults.order_stream import OrderStream
from faults.world import World

_ROWS = 40_000


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
