# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Parsing and printing of plans."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from splice import FileSource, SetupError
from splice.queries.plan import read

RANGES = {"count": 1, "first": [[10, 15]], "offsets": 5}
NONE = {"count": 0, "first": [], "offsets": 0}
ROW = {
    "topic": "orders",
    "partition": 0,
    "history": [{"leg": "history", "range": [0, 20], "offsets": 15, "rows": 15}],
    "repeated": NONE,
    "missing": RANGES,
    "fill": RANGES,
    "unavailable": NONE,
    "log": [0, 30],
    "start": 20,
    "later": "new",
}
HISTORY = {
    "leg": "history",
    "source": "files",
    "reads": "files [path=/lake]",
    "files": 3,
    "bytes": 900,
    "rows": 15,
    "newestFile": "2026-01-01T00:00:00Z",
    "batches": 2,
    "limits": {"files": 2},
}
LIVE = {
    "leg": "live",
    "source": "kafka",
    "reads": "kafka [orders]",
    "topics": {
        "orders": {
            "partitions": 1,
            "offsets": 30,
            "completeSince": "2026-01-01T00:00:00Z",
            "ranges": {"0": [0, 30]},
        }
    },
}
RULE = "handOver=offsets"


def plan(**more: Any) -> dict[str, Any]:
    return {"source": "hybrid", "slots": 2, "legs": [HISTORY, LIVE], "warnings": [], **more}


def decided(*rows: dict[str, Any]) -> dict[str, Any]:
    switch = {"rule": RULE, "onGap": "fail", "at": "T", "start": "offsets", "found": list(rows)}
    return {**LIVE, "batches": 1, "rows": 15, "handOver": switch}


def test_an_undecided_rule() -> None:
    columns = {"history": {"partition": "at.partition", "offset": "at.offset"}}
    switch = {"rule": RULE, "onHoles": "fill", "columns": columns, "undecided": "rows <needed>"}
    parsed = read(json.dumps(plan(legs=[HISTORY, {**LIVE, "handOver": switch}], warnings=["<w>"])))
    assert str(parsed).splitlines() == [
        "hybrid, 2 slots, batches unknown",
        "leg      source  files  bytes  rows  batches  hand-over",
        "history  files   3      900    15    2        -",
        "live     kafka   -      -      -     -        handOver=offsets",
        "leg   topic   partitions  offsets  complete since",
        "live  orders  1           30       2026-01-01T00:00:00Z",
        'live: handOver=offsets onHoles=fill history.logColumns={"partition": "at.partition", '
        '"offset": "at.offset"}; not decided: rows <needed>',
        "Warning: <w>",
    ]
    html = parsed._repr_html_()
    assert "<td>history</td>" in html
    assert "rows &lt;needed&gt;" in html
    assert "Warning: &lt;w&gt;" in html
    assert parsed.batches is None
    assert parsed.legs[1].topics[0].ranges == {0: (0, 30)}


def test_a_hand_over_table_has_unknown_columns_at_its_end() -> None:
    parsed = read(json.dumps(plan(legs=[HISTORY, decided(ROW)], batches=3)))
    assert str(parsed).splitlines()[-3:] == [
        "live: handOver=offsets onGap=fail; decided at T, start: offsets, watermark delay: unknown",
        "topic   partition  history has       missing       repeated  log supplies"
        "  unavailable  log has  log is read from  later",
        "orders  0          history: 0 to 19  5 (10 to 14)  -         5 (10 to 14)"
        "  -            0 to 29  20                new",
    ]
    found = parsed.to_dict()
    assert found["batches"] == 3
    assert found["legs"][1]["hand_over"]["rows"] == (ROW,)
    json.dumps(found)


def test_a_long_table_is_cut_and_the_dict_is_not() -> None:
    rows = [{**ROW, "partition": number} for number in range(25)]
    parsed = read(json.dumps(plan(legs=[HISTORY, decided(*rows)])))
    assert str(parsed).splitlines()[-1] == "and 5 more"
    assert len(parsed.to_dict()["legs"][1]["hand_over"]["rows"]) == 25


def test_the_error_of_a_switch_and_a_time() -> None:
    failed = {**LIVE, "handOver": {"rule": RULE, "error": "GAP"}}
    assert read(json.dumps(plan(legs=[HISTORY, failed]))).legs[1].hand_over.error == "GAP"  # type: ignore[union-attr]
    timed = {"rule": "handOver=nowMinus", "at": "T", "start": {"timestamp": 8000}, "found": []}
    parsed = read(json.dumps(plan(legs=[HISTORY, {**LIVE, "handOver": timed}])))
    assert "start: 1970-01-01T00:00:08+00:00" in str(parsed)


def test_more_batches_than_the_plan_counts() -> None:
    many = {**HISTORY, "batches": 10000, "moreBatches": True}
    assert "more than 10000" in str(read(json.dumps(plan(legs=[many]))))


def test_a_plan_needs_a_classic_session() -> None:
    source = FileSource.builder("parquet", "/lake").build()
    with pytest.raises(SetupError, match="session"):
        source.plan()
    with pytest.raises(SetupError, match="classic"):
        source.plan(object())  # type: ignore[arg-type]


def test_the_text_and_the_table_of_a_plan_are_its_display() -> None:
    parsed = read(json.dumps(plan(legs=[HISTORY, decided(ROW)], batches=3)))
    assert repr(parsed) == str(parsed)
    switch = parsed.legs[1].hand_over
    assert switch is not None
    assert repr(switch).splitlines()[0].startswith("live: handOver=offsets")
    assert "<td>history: 0 to 19</td>" in switch._repr_html_()
    assert "color" not in parsed._repr_html_() + switch._repr_html_()
    timed = {"rule": "<r>", "at": "T", "start": {"timestamp": 8000}, "found": []}
    without = read(json.dumps(plan(legs=[HISTORY, {**LIVE, "handOver": timed}]))).legs[1].hand_over
    assert repr(without).count("\n") == 0
    assert without is not None
    assert "&lt;r&gt;" in without._repr_html_()


def test_a_plan_as_data_frames() -> None:
    parsed = read(json.dumps(plan(legs=[HISTORY, decided(ROW)], batches=3)))
    legs = parsed.to_pandas()
    assert legs["leg"].tolist() == ["history", "live"]
    assert legs["rows"].tolist() == [15, 15]
    assert legs["files"].tolist()[0] == 3
    assert str(legs["files"].dtype) == "Int64"
    assert legs["hand_over"].tolist()[1] == RULE
    ranges = parsed.legs[1].topics[0].to_pandas()
    assert ranges.to_dict("records") == [{"topic": "orders", "partition": 0, "first": 0, "end": 30}]
    assert parsed.legs[1].hand_over is not None
    found = parsed.legs[1].hand_over.to_pandas()
    assert found["start"].tolist() == [20]
    assert "later" in found.columns


def test_pandas_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SetupError, match="needs pandas, which is not installed") as raised:
        read(json.dumps(plan())).to_pandas()
    assert raised.value.getCondition() == "SPLICE_SETUP.PANDAS_NOT_FOUND"
