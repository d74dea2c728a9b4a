# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of a hybrid with a checkpoint on HDFS or S3, after writes of its start, slots and switch.

The number of commits selects the store. ``STORES=all`` selects both stores and all writes.
"""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path

import pytest

from kill.scenario import Scenario
from rotation import turn
from servers.kafka.topics import KafkaTopics
from servers.storage.store import Store
from stores.conftest import KINDS

_ALL = os.environ.get("STORES") == "all"
_SELECTED = KINDS if _ALL else [turn(KINDS)]
_NEEDED = ("chain", "initial", "slots", "leg-live/hand-over")
_KINDS = ".+" if _ALL else f"({'|'.join(_NEEDED)})(-[0-9]+)?$"
_MOST = 20
"""Upper bound of the number of kinds of entries of a hybrid with two legs."""


@pytest.mark.parametrize("store", _SELECTED, indirect=True)
def test_a_hybrid_killed_after_each_kind_of_entry(
    store: Store, topics: KafkaTopics, tmp_path: Path
) -> None:
    scenario = Scenario.make(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path, rows=1200)
    scenario.given(store=store)
    kinds: list[str] = []
    while len(kinds) < _MOST:
        known = "|".join(map(re.escape, kinds))
        pattern = rf"/sources/0/splice/(?!({known or '-'})(-[0-9]+)?$){_KINDS}"
        life = scenario.start()
        store.kill_at("after", 1, life.process.pid, pattern)
        scenario.end(life)
        if store.acted is None:
            break
        kinds.append(re.sub(r"-[0-9]+$", "", store.acted.split("/splice/")[1]))
    assert life.process.exit_code == 0, life.process.tail(80)
    assert set(_NEEDED) <= set(kinds)
    assert len(kinds) == len(set(kinds))
    scenario.assert_each_once()
    scenario.assert_switched_once()
