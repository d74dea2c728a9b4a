# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Repetitions of batches and of tasks."""

from __future__ import annotations

from kill.killing import Kill
from kill.scenario import LIVE, SWITCH, Scenario


def test_a_task_that_fails_once_in_each_leg(scenario: Scenario) -> None:
    scenario.given(master="local[2,4]")
    scenario.finish(
        Kill("row", "^history/", nth=850, action="fail"),
        Kill("row", "^live/", nth=200, action="fail"),
        Kill("row", "^live/", nth=650, action="fail"),
    )
    scenario.assert_each_once()


def test_a_batch_that_runs_again_holds_the_same_rows(scenario: Scenario) -> None:
    scenario.given(sink="batches")
    for batch in (1, SWITCH, LIVE):
        scenario.die(Kill.commits(batch))
        before = scenario.batch_rows(batch)
        scenario.die(Kill.commits(batch))
        assert scenario.batch_rows(batch) == before
    scenario.finish()
    scenario.assert_each_once()
