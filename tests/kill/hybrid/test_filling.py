# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills before and after a repaired switch, and before and after the counts of a history."""

from __future__ import annotations

from kill.killing import Kill
from kill.scenario import HISTORY_BATCHES, Scenario


def test_killed_around_a_repaired_switch(holed: Scenario) -> None:
    holed.given(options={"live.onHoles": "fail"})
    failed = holed.run()
    assert failed.process.exit_code == 1
    assert "[SPLICE_HAND_OVER_DATA.HOLES]" in failed.process.tail(200)
    assert not any("/hand-over-" in key for key in holed.checkpoint().entries())

    holed.given(options={"live.onHoles": "fill"})
    holed.die(Kill.entry("leg-live/hand-over-00000000", "before"))
    holed.die(Kill.entry("leg-live/hand-over-00000000", "after"))
    holed.finish()
    holed.assert_each_once()
    holed.assert_switched_once()


def test_killed_around_tallies(holed: Scenario) -> None:
    # The query stops at a failed task, and stores the counts of its tasks.
    failed = holed.run(Kill("row", "^history/", nth=900, action="fail"))
    assert failed.process.exit_code == 1
    assert "leg-history/tally-00000000" in holed.checkpoint().entries()
    assert holed.checkpoint().committed() < HISTORY_BATCHES - 1
    holed.die(Kill.entry("leg-history/tally-00000001", "before"))
    holed.die(Kill.entry("leg-history/tally-00000001", "after"))
    holed.finish()
    holed.assert_each_once()
    holed.assert_switched_once()
