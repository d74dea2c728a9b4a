# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Several queries per session, attempts per task, and batches per entry of the log."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from kill.cluster import BOTH_EXECUTORS, two_hosts
from kill.killing import Kill
from kill.scenario import LIVE, Scenario


def test_two_queries_in_one_session(scenario: Scenario) -> None:
    scenario.given(queries=2)
    scenario.die(Kill.commits(LIVE))
    scenario.finish()
    for query in range(2):
        scenario.assert_each_once(query)
        scenario.assert_switched_once(query)


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2 as a host")
def test_speculation(scenario: Scenario, tmp_path: Path) -> None:
    slow = [scenario.some_name("history"), scenario.some_name("live")]
    with two_hosts(tmp_path / "cluster") as master:
        scenario.given(
            master=master,
            conf=BOTH_EXECUTORS
            | {
                "spark.locality.wait": "0s",
                "spark.speculation": "true",
                "spark.speculation.interval": "100ms",
                "spark.speculation.quantile": "0.5",
                "spark.speculation.task.duration.threshold": "2s",
            },
        )
        life = scenario.finish(*(Kill("row", f"^{name}$", action="hang") for name in slow))
    # The first attempt of each task hangs, so a second parallel attempt has read the row.
    assert [sum(row == name for row in life.rows) for name in slow] == [2, 2]
    scenario.assert_each_once()


def test_async_progress_tracking(scenario: Scenario) -> None:
    # Spark supports this mode only for sinks without durable output, so the test records rows
    # before
    # the sink. A batch that is not tracked yet is read again, and no batch is skipped.
    scenario.given(
        sink="noop",
        trigger={"processingTime": "0 seconds"},
        sink_options={
            "asyncProgressTrackingEnabled": "true",
            "asyncProgressTrackingCheckpointIntervalMs": "1500",
        },
    )
    first = scenario.die(Kill("row", "^live/", nth=650))
    second = scenario.start()
    second.finish()
    expected = scenario.produced_names()
    assert set(first.rows) | set(second.rows) == expected
    assert max(Counter(second.rows).values()) == 1
    scenario.assert_switched_once()
