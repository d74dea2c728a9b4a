# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills at every durable step of a batch, in each leg. No row is lost or duplicated.

The history has holes, so the batches after the switch read the holes from the log.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kill.killing import Kill
from kill.scenario import LIVE, SWITCH, Scenario

HISTORY = 1
BATCHES = (HISTORY, SWITCH, LIVE)

MIDDLES = {
    # The first run reads batch 0 too (about 380 rows), and the third run begins with the switch.
    HISTORY: Kill("row", "^history/", nth=550),
    SWITCH: Kill("row", "^live/", nth=200),
    LIVE: Kill("row", "^live/", nth=650),
}

STEPS: dict[str, Callable[[int], Kill]] = {
    "before-offsets": Kill.offsets,
    # Spark calls commit of the source right after the next batch's entry in the log.
    "after-offsets-before-source-commit": lambda batch: Kill.offsets(batch, "after", "signal"),
    "in-a-task-after-source-commit": MIDDLES.__getitem__,
    "before-sink-commit": Kill.sink,
    "after-sink-commit-before-commits": lambda batch: Kill.commits(batch, action="signal"),
    "after-commits": lambda batch: Kill.commits(batch, "after"),
}


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step_in_each_leg(holed: Scenario, step: str) -> None:
    for batch in BATCHES:
        holed.die(STEPS[step](batch))
        state = (holed.checkpoint().planned(), holed.checkpoint().committed())
        assert state == _expected(step, batch)
    holed.finish()
    holed.assert_each_once()
    holed.assert_switched_once()


def _expected(step: str, batch: int) -> tuple[int, int]:
    planned = batch - 1 if step == "before-offsets" else batch
    committed = batch if step == "after-commits" else batch - 1
    return planned, committed
