# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Rule that decides whether a run of queries needs a driver process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kill.killing import DIE, FAIL, Kill

VARIABLE = "KILLS"
"""Environment variable. With the value ``process``, a process runs all queries."""

MASTER = "local[2]"
"""Master of the session of the tests."""

_OF_QUERIES = "spark.sql."


def reasons(
    queries: Sequence[Mapping[str, Any]],
    kills: Sequence[Kill],
    master: str,
    conf: Mapping[str, str],
    slain: bool,
    wanted: str,
) -> list[str]:
    """Return why queries need a driver process; empty if the session of the tests can run them.

    Args:
        queries: Queries as for ``kill.driver``.
        kills: Steps at which the run is killed.
        master: Master of the driver.
        conf: Settings of the driver.
        slain: True if the test kills the driver at any time.
        wanted: Value of the environment variable.
    """
    found = [f"the action {kill.action}" for kill in kills if kill.action not in (DIE, FAIL)]
    found += [f"the setting {key}" for key in conf if not key.startswith(_OF_QUERIES)]
    if master != MASTER:
        found.append(f"the master {master}")
    for query in queries:
        # A commit to a group that has begun would continue after the death of the run.
        found += [key for key, value in query["options"].items() if _commits(key, value)]
        if query.get("custom_rule"):
            found.append("a rule in Python")
    if slain:
        found.append("a kill by the test")
    if wanted == "process":
        found.append(f"the variable {VARIABLE}")
    return found


def _commits(option: str, value: str) -> bool:
    return option.endswith("commitToGroup") and value == "true"
