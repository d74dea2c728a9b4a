# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Committed orders of recreated topics, and warnings about their unread orders."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from soak.kafka.policies import PERMISSIVE
from soak.kafka.topic_log import TopicLog
from soak.realtime.recreated import Recreated

_WARNING = (
    "26/11/27 WARN DataLoss: [SPLICE_KAFKA_DATA.DATA_LOSS] no longer exist: a.b0-0 [2, end)\n"
)


@pytest.fixture
def query(tmp_path: Path) -> Recreated:
    """A query over the topics a and a.b0. The second topic was recreated in the second run."""
    query = Recreated(Mock(bootstrap_servers=""), "a", tmp_path)
    query.log = log = TopicLog()
    log.created("a", "id of a", 0)
    log.wrote("a", [(0, 0), (0, 1), (1, 2)])
    log.created("a.b0", "old id", 0)
    log.wrote("a.b0", [(0, 3), (0, 4), (0, 5)])
    log.deleted("a.b0", life=1, due=True)
    log.created("a.b0", "new id", 1)
    log.wrote("a.b0", [(0, 6), (0, 7)])
    log.ran(PERMISSIVE)
    for run in range(3):
        (tmp_path / f"life-{run}").mkdir()
        (tmp_path / f"life-{run}" / "driver.log").write_text(
            "WARN FetchCollector: unknown topic for a.b0-0\n"
        )
    side = tmp_path / "checkpoint" / "sources" / "0" / "splice"
    side.mkdir(parents=True)
    first = {"cluster": "c", "topics": {"a": "id of a", "a.b0": "old id"}, "v": 1}
    later = {"topic": "a.b0", "number": 1, "cluster": "c", "id": "new id", "v": 1}
    (side / "identity-00000000").write_text(f"splice 1 0\n{json.dumps(first)}")
    (side / "generation-00000000").write_text(f"splice 1 0\n{json.dumps(later)}\n{{}}\n{{}}")
    return query


def _commit(query: Recreated, offset: dict[str, dict[str, int]]) -> None:
    for log in ("offsets", "commits"):
        folder = query.folder / "checkpoint" / log
        folder.mkdir(exist_ok=True)
        (folder / "0").write_text(f"v1\n{{}}\n{json.dumps(offset)}")


def test_committed_orders_belong_to_the_topic_of_the_offset(query: Recreated) -> None:
    assert query.committed_rows() == set()
    _commit(query, {"a": {"0": 1, "1": 1}, "a.b0": {"0": 2}})
    assert query.committed_rows() == {0, 2, 3, 4}
    _commit(query, {"a": {"0": 2, "1": 0}, "a.b0": {"00": 1}})
    assert query.committed_rows() == {0, 1, 6}


def test_only_the_orders_of_the_deleted_topic_are_excused(query: Recreated) -> None:
    assert query.rows() - query.excused() == {0, 1, 2, 6, 7}


def test_a_run_since_the_deletion_must_report_unread_orders(query: Recreated) -> None:
    query.assert_reported({3, 4, 5})
    for run, reports in ((0, False), (2, True)):
        with (query.folder / f"life-{run}" / "driver.log").open("a") as log:
            log.write(_WARNING)
        if reports:
            query.assert_reported({3, 4})
        else:
            with pytest.raises(AssertionError, match=r"no warning about 1 unread orders of a\.b0"):
                query.assert_reported({3, 4})
