# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of driver processes that stay real. Together they have each value of each property.

Other kills are deaths in the session of the tests. ``test_die_like_sigkill.py`` compares deaths
with real kills.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kill.hybrid.steps import STEPS

VALUES = {
    "steps": tuple(STEPS),
    "action": ("halt", "signal"),
    "trigger": ("availableNow", "processingTime", "realTime", "continuous"),
    "source": ("hybrid", "kafka", "dynamic", "takeover"),
}
"""Values of each property of a kill."""


class RealKill(NamedTuple):
    """Action and steps of the real kills of a test, and trigger and source of its query."""

    action: str
    trigger: str
    source: str
    steps: tuple[str, ...]


_IN_A_TASK = ("in-a-task-after-source-commit",)
_BEFORE_COMMITS = ("after-sink-commit-before-commits",)

REAL = {
    "equal": RealKill("signal", "availableNow", "hybrid", tuple(STEPS)),
    "group": RealKill("halt", "processingTime", "kafka", _IN_A_TASK),
    "takeover": RealKill("signal", "availableNow", "takeover", _BEFORE_COMMITS),
    "real-time": RealKill("signal", "realTime", "kafka", _IN_A_TASK),
    "continuous": RealKill("signal", "continuous", "kafka", _BEFORE_COMMITS),
    "dynamic": RealKill("signal", "processingTime", "dynamic", _BEFORE_COMMITS),
}
"""Real kills, by the name with which a test reads the action."""


def missing(kills: Mapping[str, RealKill]) -> list[str]:
    """Return the values of ``VALUES`` that no kill has."""
    found = {value for *single, steps in kills.values() for value in (*single, *steps)}
    return [value for values in VALUES.values() for value in values if value not in found]
