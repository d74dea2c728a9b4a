# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Repetitions of batches and tasks for other reasons than a killed driver."""

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
        scenario.die(Kill.commits(batch, action="signal"))
        assert scenario.batch_rows(batch) == before
    scenario.finish()
    scenario.assert_each_once()


def test_restarted_with_other_numbers_of_cores(scenario: Scenario) -> None:
    scenario.die(Kill.offsets(1, "after"))
    scenario.given(master="local[4]")
    scenario.die(Kill.offsets(SWITCH, "after"))
    scenario.given(master="local[1]")
    scenario.die(Kill.offsets(LIVE, "after"))
    scenario.given(master="local[3]")
    scenario.finish()
    scenario.assert_each_once()
    scenario.assert_switched_once()


def test_a_changed_chain_is_rejected_and_the_old_chain_continues(scenario: Scenario) -> None:
    scenario.die(Kill.offsets(1, "after"))
    scenario.given(options={"history.path": f"{scenario.history}/*"})
    refused = scenario.run()
    assert refused.process.exit_code
    log = refused.process.log.read_text()
    assert f"{scenario.history}' and is '" in log
    assert f"{scenario.history}/*' now" in log
    scenario.given(options={})
    scenario.die(Kill.offsets(SWITCH, "after"))
    # The history has ended, and its path is not compared any more.
    scenario.given(options={"history.path": f"{scenario.history}/*"})
    scenario.finish()
    scenario.assert_each_once()
    scenario.assert_switched_once()
