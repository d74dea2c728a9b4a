# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills at every durable step of a batch, in each leg. No row is lost or duplicated.

The history has holes, so the batches after the switch read the holes from the log.
"""

from __future__ import annotations

import pytest

from kill.hybrid.steps import BATCHES, STEPS, state
from kill.scenario import Scenario


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step_in_each_leg(holed: Scenario, step: str) -> None:
    for batch in BATCHES:
        holed.die(STEPS[step](batch))
        checkpoint = holed.checkpoint()
        assert (checkpoint.planned(), checkpoint.committed()) == state(step, batch)
    holed.finish()
    holed.assert_each_once()
    holed.assert_switched_once()
