# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Durable steps of a batch of a hybrid, and the state of the checkpoint at each step."""

from __future__ import annotations

from collections.abc import Callable

from kill.killing import Kill
from kill.scenario import LIVE, SWITCH

HISTORY = 1
BATCHES = (HISTORY, SWITCH, LIVE)

_MIDDLES = {
    # The first run reads batch 0 too (about 380 rows), and the third run begins with the switch.
    HISTORY: Kill("row", "^history/", nth=550),
    SWITCH: Kill("row", "^live/", nth=200),
    LIVE: Kill("row", "^live/", nth=650),
}

STEPS: dict[str, Callable[[int], Kill]] = {
    "before-offsets": Kill.offsets,
    # Spark calls commit of the source right after the next batch's entry in the log.
    "after-offsets-before-source-commit": lambda batch: Kill.offsets(batch, "after"),
    "in-a-task-after-source-commit": _MIDDLES.__getitem__,
    "before-sink-commit": Kill.sink,
    "after-sink-commit-before-commits": Kill.commits,
    "after-commits": lambda batch: Kill.commits(batch, "after"),
}
"""Functions that return the step of a batch."""


def state(step: str, batch: int) -> tuple[int, int]:
    """Return the newest batches in the offset log and in the commit log after a kill."""
    planned = batch - 1 if step == "before-offsets" else batch
    committed = batch if step == "after-commits" else batch - 1
    return planned, committed
