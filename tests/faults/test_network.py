# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Networks that are slow, cut or half-open. The sink must have each produced id once."""

from __future__ import annotations

from faults.gate import Gate
from faults.order_stream import OrderStream
from faults.world import World

_ROWS = 40_000


def test_responses_that_take_200_ms(stream: OrderStream, world: World) -> None:
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
    # Clients close connections without a response, and their next connections have no response
    # either.
    proxy, before = world.proxy, world.proxy.abandoned
    stream.wait_until(query, "a closed connection", lambda: proxy.abandoned > before)
    accepted = proxy.accepted
    stream.wait_until(query, "another connection", lambda: proxy.accepted > accepted)
    world.proxy.heal()
    stream.produce(100)
    stream.finish(query)


def test_cut_while_nothing_is_to_be_read(stream: OrderStream, world: World) -> None:
    stream.produce(300)
    query = stream.start(discoveryInterval="200ms")
    stream.wait_for_all(query)
    before = world.proxy.refused
    world.proxy.cut()
    # Clients open at most two connections per second.
    stream.wait_until(
        query, "requests without a broker", lambda: world.proxy.refused >= before + 10
    )
    stream.produce(300)
    world.proxy.heal()
    stream.finish(query)
