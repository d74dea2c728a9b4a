# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills before and after the entry that stores the result of a custom rule."""

from __future__ import annotations

from kill.counted_rule import results
from kill.killing import Kill
from kill.scenario import SWITCH, Scenario

_ENTRY = "leg-live/hand-over-00000000"


def test_killed_before_and_after_the_result_is_stored(scenario: Scenario) -> None:
    scenario.given(custom_rule=True)
    for calls, cores in ((1, 2), (2, 4)):
        scenario.given(master=f"local[{cores}]")
        scenario.die(Kill.entry(_ENTRY, "before", "signal"))
        assert _ENTRY not in scenario.checkpoint().entries()
        assert len(results(scenario.notes())) == calls
    scenario.given(master="local[1]")
    scenario.die(Kill.entry(_ENTRY, "after", "signal"))
    stored = scenario.checkpoint().entries()[_ENTRY]
    assert len(results(scenario.notes())) == 3
    # The start is stored now, so no later run calls the rule.
    scenario.given(master="local[3]")
    scenario.die(Kill.offsets(SWITCH, "before", "signal"))
    scenario.die(Kill.commits(SWITCH, "before", "signal"))
    scenario.finish()
    assert len(results(scenario.notes())) == 3
    assert scenario.checkpoint().entries()[_ENTRY] == stored
    assert scenario.checkpoint().switch().start == results(scenario.notes())[-1]
    scenario.assert_each_once()
    scenario.assert_switched_once()
