# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Parsing and display of the events of a query."""

from __future__ import annotations

import copy
import json
from datetime import datetime, timezone
from typing import Any

import pytest

from splice import HistoryEvent, QueryHistory, query_history
from splice._internal import jvm
from splice.errors import SetupError

EVENT = {
    "source": "0/leg-live",
    "change": 3,
    "at": 1_500_000,
    "generation": 7,
    "event": "topicAdded",
    "names": ["east/<orders>", "west/orders"],
}


class Frame:
    columns = ("source", "change")

    def __getitem__(self, name: str) -> str:
        return f"column {name}"

    def where(self, condition: str) -> str:
        return f"where {condition}"


class Session:
    def createDataFrame(self, rows: list[Any], schema: str) -> Frame:  # noqa: N802 (PySpark's name)
        self.rows = rows
        return Frame()


@pytest.fixture
def session() -> Session:
    return Session()


def history(monkeypatch: pytest.MonkeyPatch, session: Session, *events: Any) -> QueryHistory:
    monkeypatch.setattr(jvm, "history", lambda *_: json.dumps(events))
    return query_history(session, "/checkpoint")  # type: ignore[arg-type]


def test_events(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    last = {"source": "0", "change": 4, "event": "handOver", "names": []}
    found = history(monkeypatch, session, EVENT, last)
    at = datetime(1970, 1, 1, 0, 0, 1, 500_000, timezone.utc)
    names = ("east/<orders>", "west/orders")
    assert list(found) == [
        HistoryEvent("0/leg-live", 3, at, 7, "topicAdded", names),
        HistoryEvent("0", 4, None, None, "handOver", ()),
    ]
    assert len(found) == 2
    assert found[-1].event == "handOver"
    assert found.to_pandas()["generation"].tolist()[0] == 7


def test_the_history_is_read_with_the_session_of_the_caller(
    monkeypatch: pytest.MonkeyPatch, session: Session
) -> None:
    class Api:
        def history(self, own: object, checkpoint: str) -> str:
            return json.dumps([{**EVENT, "source": f"{own} {checkpoint}"}])

    monkeypatch.setattr(jvm, "running", object)
    monkeypatch.setattr(jvm, "_session_lives", lambda: True)
    monkeypatch.setattr(jvm, "entry_point", lambda _: Api())
    with pytest.raises(SetupError, match="query_history"):
        query_history(session, "/checkpoint")  # type: ignore[arg-type]
    session._jsparkSession = "own"  # type: ignore[attr-defined]
    found = query_history(session, "/checkpoint")  # type: ignore[arg-type]
    assert found[0].source == "own /checkpoint"


def test_the_history_is_shown_as_a_table(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    found = history(monkeypatch, session, EVENT)
    assert repr(found).splitlines() == [
        "1 event",
        "source      change  at                                generation  event       names",
        "0/leg-live  3       1970-01-01T00:00:01.500000+00:00  7           topicAdded  "
        "east/<orders>, west/orders",
    ]
    assert "<td>east/&lt;orders&gt;, west/orders</td>" in found._repr_html_()
    many = history(monkeypatch, session, *[{**EVENT, "change": n} for n in range(60)])
    lines = repr(many).splitlines()
    assert lines[0] == "60 events, the newest 50:"
    assert [line.split()[1] for line in lines[2:]] == [str(n) for n in range(10, 60)]


def test_the_history_has_the_methods_of_its_data_frame(
    monkeypatch: pytest.MonkeyPatch, session: Session
) -> None:
    found = history(monkeypatch, session, EVENT)
    assert found.where("a") == "where a"
    assert str(found["event"]) == "column event"
    assert found[:1] == tuple(found)
    assert found.columns == ("source", "change")
    assert session.rows[0][-1] == ["east/<orders>", "west/orders"]
    assert list(copy.copy(found)) == list(found)
    with pytest.raises(AttributeError):
        _ = found.no_such_method
    with pytest.raises(AttributeError):
        _ = found._jdf
