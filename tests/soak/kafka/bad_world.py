# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Temporary faults of three brokers and their networks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from servers.kafka.brokers import KafkaBrokers
from soak.kafka.fate import Event, What

_DELAY = 0.2


@contextmanager
def befall(event: Event, brokers: KafkaBrokers) -> Iterator[None]:
    """Cause a fault within the block, and end the fault after the block."""
    network = _on_network if event.what in (What.SLOW, What.CUT, What.HALF_OPEN) else _on_brokers
    with network(event, brokers):
        yield


@contextmanager
def _on_network(event: Event, brokers: KafkaBrokers) -> Iterator[None]:
    for proxy in brokers.proxies:
        if event.what is What.SLOW:
            proxy.slow(_DELAY)
        elif event.what is What.CUT:
            proxy.cut()
        else:
            proxy.silence()
    try:
        yield
    finally:
        for proxy in brokers.proxies:
            proxy.heal()


@contextmanager
def _on_brokers(event: Event, brokers: KafkaBrokers) -> Iterator[None]:
    if event.what is What.BROKER:
        brokers.kill(event.broker)
    else:
        brokers.kill_all()
    try:
        yield
    finally:
        # The previous leaders lead again while the driver runs.
        brokers.start_all()
        brokers.topics.prefer_leaders()
