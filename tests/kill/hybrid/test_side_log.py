# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills at every entry of the side log. Each decision is stored once."""

from __future__ import annotations

import pytest

from demo import orders
from kill.killing import Kill
from kill.scenario import LIVE, Scenario

WATCHED = {"history.discovery": "watch", "history.endWhen": "caughtUp"}


@pytest.mark.parametrize("options", [{}, WATCHED], ids=["list", "watch"])
def test_killed_before_and_after_each_entry(holed: Scenario, options: dict[str, str]) -> None:
    holed.given(options=options)
    created: list[str] = []
    while holed.run(Kill("rename", "/sources/0/splice/")).acted:
        assert len(holed.checkpoint().entries()) == len(created)
        holed.die(Kill("rename", "/sources/0/splice/", "after"))
        created += holed.checkpoint().entries().keys() - set(created)
        assert len(holed.checkpoint().entries()) == len(created)
    # The entries include the chain, the session, the file list, its end, and the first offset. The
    # entry of the switch contains the holes, so no kill can separate the switch and the holes.
    assert len(created) >= 6
    assert "leg-live/hand-over-00000000" in created
    assert not any("/fill-" in key for key in created)
    holed.assert_each_once()
    holed.assert_switched_once()


def test_killed_around_the_switch_with_a_moved_history(scenario: Scenario) -> None:
    scenario.die(Kill.entry("leg-live/hand-over-00000000", "before"))
    scenario.die(Kill.entry("leg-live/hand-over-00000000", "after"))
    scenario.history.rename(scenario.history.with_name("elsewhere"))
    scenario.die(Kill.commits(LIVE, "after"))
    scenario.finish()
    scenario.assert_each_once()
    scenario.assert_switched_once()


def test_killed_after_the_start_of_a_new_partition(scenario: Scenario) -> None:
    scenario.die(Kill.commits(LIVE, "after"))
    scenario.topics.add_partitions(scenario.topic, orders.PARTITIONS + 1)
    scenario.produce(100, partition=orders.PARTITIONS)
    scenario.die(Kill.entry("leg-live/new-partitions-00000000", "after"))
    scenario.finish()
    scenario.assert_each_once()
    scenario.assert_switched_once()
