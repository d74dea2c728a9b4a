# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Changes of the trigger after a kill between ``offsets/N`` and ``commits/N``.

No row is lost, and only rows of the interrupted batch are read twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kill.backend.sample import REAL
from kill.copies import AVAILABLE_NOW, CONF, CONTINUOUS, MICRO_BATCH, REAL_TIME, ROWS, Copies
from kill.killing import DIE, Kill
from servers.waiting import wait_for
from soak.patience import has_seen

_LONG = {"realTime": "10 minutes"}

# Spark 4.3 accepts real-time mode on a checkpoint only if its first start had this setting.
_FORMAT = {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}

# TriggerChangeSuite has each pair of successive triggers.
_TRIGGERS: tuple[Mapping[str, Any], ...] = (MICRO_BATCH, REAL_TIME, AVAILABLE_NOW, REAL_TIME)


def test_each_trigger_continues_after_a_kill_of_each_trigger(copies: Copies) -> None:
    copies.relay.given(conf=CONF | _FORMAT)
    for batch, trigger in enumerate(_TRIGGERS):
        # Each run first reads the uncommitted batch of the previous run.
        copies.die(trigger, Kill.commits(batch))
        assert copies.planned_and_committed() == (batch, batch - 1)
        copies.relay.produce(ROWS)
    copies.finish(MICRO_BATCH)
    copies.assert_at_least_once()


def test_continuous_mode_begins_only_after_an_uncommitted_batch_is_read(copies: Copies) -> None:
    # A batch in real-time mode replaces the uncommitted batch of another trigger.
    for batch, trigger in ((0, MICRO_BATCH), (0, _LONG), (1, AVAILABLE_NOW)):
        if trigger is _LONG:
            _die_after_rows(copies, batch)
        else:
            copies.die(trigger, Kill.commits(batch))
        end = copies.relay.checkpoint.offset(batch)[copies.relay.topic]
        assert sum(end.values()) > sum(copies.relay.committed().values())
        copies.relay.produce(ROWS)
        error = copies.fail(CONTINUOUS)
        assert "SPLICE_CONTINUOUS.UNCOMMITTED_BATCH" in error
        assert f"the end of batch {batch}, which is not committed" in error
        assert copies.planned_and_committed() == (batch, batch - 1)
    copies.finish(AVAILABLE_NOW)
    copies.relay.produce(ROWS)
    copies.finish(CONTINUOUS)
    copies.assert_at_least_once()


def _die_after_rows(copies: Copies, batch: int) -> None:
    """Kill a run in real-time mode before the commit of a batch that has read rows."""
    life = copies.start(_LONG, Kill.commits(batch), discoveryInterval="500ms")
    try:
        wait_for("rows", lambda: has_seen(life, 1))
        # The new partition ends the batch.
        copies.relay.add_partition(ROWS)
    finally:
        copies.until_killed(life)


def test_continuous_mode_reads_an_uncommitted_epoch_again(copies: Copies) -> None:
    committed = -1
    for action in (DIE, REAL["continuous"].action):
        # The number of empty epochs before the epoch with the rows is not known.
        copies.die(CONTINUOUS, Kill("rename", r"/commits/\d+$", nth=2, action=action))
        planned, last = copies.planned_and_committed()
        assert planned == last + 1 > committed + 1
        committed = last
        copies.relay.produce(ROWS)
    copies.finish(CONTINUOUS)
    copies.assert_at_least_once()
