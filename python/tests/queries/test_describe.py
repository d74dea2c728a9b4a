# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Results of describe() for the progress of a query."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from splice import OptionError, SourceDescription, WaitingGroupDescription, describe
from splice._internal import jvm
from splice._internal.display.frames import frame

SPLICE = {
    "description": "splice",
    "endOffset": '{"v":1}',
    "metrics": {
        "leg": "live",
        "position": "orders-0@<7>",
        "splits": "8",
        "rowsBehind": "120",
        "bytesBehind": "",
        "switchesTotal": "1",
    },
}
RATE = {"description": "rate", "endOffset": "5", "metrics": {}}


@dataclass
class Query:
    last: dict[str, Any] | None
    name: str | None = None
    id: str = field(default="c0ffee")
    before: tuple[dict[str, Any], ...] = ()

    @property
    def recentProgress(self) -> list[dict[str, Any]]:  # noqa: N802 (PySpark's name)
        return [*self.before, *([self.last] if self.last else [])]


@dataclass
class Streams:
    active: list[Query]


@dataclass
class Session:
    streams: Streams


def test_values_are_from_the_metrics() -> None:
    described = describe(Query({"batchId": 4, "sources": [RATE, SPLICE]}, "orders"))  # type: ignore[arg-type]
    assert described.batch_id == 4
    assert described.sources == (
        SourceDescription(
            "live", "orders-0@<7>", 8, 120, None, 1, '{"v":1}', metrics=SPLICE["metrics"]
        ),
    )


def test_it_prints_as_a_table() -> None:
    described = describe(Query({"batchId": 4, "sources": [SPLICE]}, "orders"))  # type: ignore[arg-type]
    assert str(described).splitlines() == [
        "orders, batch 4",
        "leg   position      splits  rows behind  bytes behind  time behind  rows/s arriving"
        "  rows/s  bytes/s  remaining  switches",
        "live  orders-0@<7>       8          120             -            -                -"
        "       -        -          -         1",
    ]
    assert repr(described) == str(described)
    assert ">orders-0@&lt;7&gt;</td>" in described._repr_html_()


def test_rates_and_human_units() -> None:
    def at(second: int, rows: str, size: str) -> dict[str, Any]:
        metrics = SPLICE["metrics"] | {"rowsBehind": rows, "bytesBehind": size}  # type: ignore[operator]
        return {
            "runId": "a",
            "batchId": second,
            "timestamp": f"2026-11-26T14:00:{second:02}.000Z",
            "durationMs": {"triggerExecution": 1000},
            "sources": [RATE, SPLICE | {"numInputRows": 2011, "metrics": metrics}],
        }

    query = Query(at(1, "120934", "14512080"), "orders", before=(at(0, "122934", "14752080"),))
    described = describe(query)  # type: ignore[arg-type]
    (source,) = described.sources
    assert (source.rows_per_second, source.bytes_per_second) == (2011, None)
    assert source.remaining == timedelta(seconds=60)
    shown = "live orders-0@<7> 8 120,934 13.8 MiB - - 2,011 - 1 min 1"
    assert str(described).splitlines()[2].split() == shown.split()
    frame = described.to_pandas()
    assert frame.loc[0, ["source", "leg", "rows_behind"]].tolist() == [0, "live", 120934]
    assert frame.loc[0, "remaining"] == timedelta(seconds=60)
    assert described.to_dict()["sources"][0]["remaining"] == timedelta(seconds=60)


def test_late_rows_and_rows_of_the_future_are_in_a_table() -> None:
    def described(**metrics: str) -> list[str]:
        source = SPLICE | {"metrics": SPLICE["metrics"] | metrics}  # type: ignore[operator]
        return str(describe(Query({"batchId": 4, "sources": [source]}))).splitlines()  # type: ignore[arg-type]

    assert described(delayNeededMs="0", rowsHeld="0") == described()
    shown = described(delayNeededMs="60749461", rowsHeld="7")[3:]
    assert [line.strip() for line in shown] == ["delay needed  rows held", "16 h 52 min          7"]


def test_the_age_of_the_oldest_record_of_the_next_log_is_in_a_table() -> None:
    metrics = {"leg": "history", "position": "7 of 9 files", "oldestRecordAgeMs": "601200000"}
    described = describe(Query({"batchId": 4, "sources": [SPLICE, SPLICE | {"metrics": metrics}]}))  # type: ignore[arg-type]
    ages = [source.oldest_record_age for source in described.sources]
    assert ages == [None, timedelta(days=6, hours=23)]
    shown = [line.strip() for line in str(described).splitlines()[4:]]
    assert shown == ["oldest record of the log", "-", "6 d 23 h"]
    assert ">6 d 23 h</td>" in described._repr_html_()


def test_types_of_a_data_frame() -> None:
    rows = [{"n": 2**60 + 1, "rate": 2.0, "is": True}, {"n": None, "rate": None, "is": False}]
    found = frame(rows, ("n", "rate", "is", "none"))
    assert [str(found[name].dtype) for name in ("n", "rate", "is")] == ["Int64", "float64", "bool"]
    assert found["n"][0] == 2**60 + 1
    assert frame([{"n": 2**70}], ("n",))["n"][0] == 2**70
    assert list(frame([], ("n",)).columns) == ["n"]


def test_another_table_is_rejected() -> None:
    described = describe(Query({"batchId": 4, "sources": [SPLICE]}, "q"))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"'partitions' is not a table.*'topics'") as raised:
        described.to_pandas("partitions")  # type: ignore[arg-type]
    assert raised.value.getCondition() == "SPLICE_BUILDER.INVALID_TABLE"


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        ('{"v":1, "legs":{}}', '{"v":1, "legs":{}}'),
        (
            "{'v': 1, 'a': True, 'b': None, 'c': \"it's ü\"}",
            '{"v":1,"a":true,"b":null,"c":"it\'s ü"}',
        ),
        ({"v": 1}, '{"v":1}'),
        ("orders@7", "orders@7"),
        ("{1, 2}", "{1, 2}"),
        ("None", None),
        (None, None),
    ],
)
def test_the_end_offset_is_json(offset: Any, text: str | None) -> None:
    source = SPLICE | {"endOffset": offset}
    described = describe(Query({"batchId": 4, "sources": [source]}, "q"))  # type: ignore[arg-type]
    assert described.sources[0].end_offset == text


def test_topics_and_partitions_with_the_greatest_lag() -> None:
    metrics = {
        "position": "12 partitions",
        "rowsBehind": "9",
        "secondsBehind": "61",
        "rowsArrivingPerSecond": "20",
        "topics": '{"orders":{"partitions":2,"rowsBehind":9,"rowsArrivingPerSecond":20},'
        '"*":{"partitions":10,"rowsBehind":0}}',
        "lagging": '[{"partition":"orders-1","rowsBehind":9,"bytesBehind":90,"secondsBehind":61}]',
    }
    described = describe(Query({"batchId": 4, "sources": [SPLICE | {"metrics": metrics}]}, "q"))  # type: ignore[arg-type]
    source = described.sources[0]
    assert (source.seconds_behind, source.rows_arriving_per_second) == (61, 20)
    assert [topic.name for topic in source.topics] == ["orders", "*"]
    assert source.lagging[0].bytes_behind == 90
    assert str(described).splitlines()[3:] == [
        "topic   partitions  rows behind  bytes behind  time behind  rows/s arriving",
        "orders           2            9             -            -               20",
        "*               10            0             -            -                -",
        "partition  rows behind  bytes behind  time behind",
        "orders-1             9          90 B    1 min 1 s",
    ]
    assert described._repr_html_().count("<table>") == 3
    assert described.to_pandas("topics")["name"].tolist() == ["orders", "*"]
    assert described.to_pandas("lagging")["bytes_behind"].tolist() == [90]
    assert list(described.to_pandas("clusters").columns[:2]) == ["source", "name"]


def test_clusters_that_a_change_waits_for() -> None:
    metrics = {
        "position": "change 3, 2 clusters",
        "metadataWaitsFor": '["east","west"]',
        "waitingGroups": '[{"streams":["a","b"],"generation":9,"waitsFor":["east","west"]},'
        '{"streams":[],"rejected":"too many"}]',
    }
    described = describe(Query({"batchId": 4, "sources": [SPLICE | {"metrics": metrics}]}, "q"))  # type: ignore[arg-type]
    source = described.sources[0]
    assert source.metadata_waits_for == ("east", "west")
    assert source.waiting_groups == (
        WaitingGroupDescription(("a", "b"), 9, ("east", "west"), None),
        WaitingGroupDescription((), None, (), "too many"),
    )
    assert str(described).splitlines()[3:] == [
        "streams that wait  generation  wait for    rejected",
        "a, b               9           east, west  -",
        "all                -           -           too many",
    ]


def test_clusters() -> None:
    metrics = {
        "position": "change 3, 2 clusters",
        "clusters": '{"east":{"splits":4,"rowsBehind":9,"available":1,"responseAgeMs":70,'
        '"topicsWaiting":2,"topicsDraining":1},"west":{"splits":0,"unavailableMs":8,"available":0},'
        '"south":{"splits":1}}',
    }
    described = describe(Query({"batchId": 4, "sources": [SPLICE | {"metrics": metrics}]}, "q"))  # type: ignore[arg-type]
    east, west, south = described.sources[0].clusters
    assert (east.available, east.response_age_ms) == (True, 70)
    assert (east.topics_waiting, east.topics_draining) == (2, 1)
    assert (west.available, west.unavailable_ms, west.response_age_ms) == (False, 8, None)
    assert south.available is None
    heading, *rows = str(described).splitlines()[3:]
    assert heading.endswith(
        "unavailable for  available  response age  topics waiting  topics draining"
    )
    assert [row.split() for row in rows] == [
        ["east", "4", "9", "-", "-", "-", "-", "yes", "70", "ms", "2", "1"],
        ["west", "0", "-", "-", "-", "-", "8", "ms", "no", "-", "-", "-"],
        ["south", "1", "-", "-", "-", "-", "-", "-", "-", "-", "-"],
    ]


def test_before_the_first_progress() -> None:
    described = describe(Query(None))  # type: ignore[arg-type]
    assert described.sources == ()
    assert str(described) == "c0ffee: no progress has been reported yet"
    assert "no progress" in described._repr_html_()


def test_the_queries_of_a_session() -> None:
    queries = [Query(None, "b"), Query({"batchId": 4, "sources": [SPLICE]}, "a")]
    described = describe(Session(Streams(queries)))  # type: ignore[call-overload]
    assert [one.name for one in described] == ["a", "b"]
    assert repr(described) == f"{described[0]}\n\n{described[1]}"
    assert described._repr_html_().count("<table>") == 1
    assert repr(describe(Session(Streams([])))) == "no active query"  # type: ignore[call-overload]


def test_a_query_without_splice() -> None:
    described = describe(Query({"batchId": 0, "sources": [RATE]}, "q"))  # type: ignore[arg-type]
    assert str(described) == "q, batch 0: the query has no Splice source"


def test_an_unreadable_checkpoint_hides_only_the_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    def history_of(_: str) -> str:
        raise OSError("the storage does not respond")

    monkeypatch.setattr(jvm, "history_of", history_of)
    described = describe(Query({"batchId": 4, "sources": [SPLICE]}, "q"))  # type: ignore[arg-type]
    assert described.hand_overs == ()
    assert described.sources[0].rows_behind == 120


def test_switches_are_read_from_the_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    switch = {
        "source": "0/leg-live",
        "change": 0,
        "at": 1,
        "event": "handOver",
        "names": ["handOver=offsets"],
        "details": {
            "at": "2026-01-01T00:00:00Z",
            "rule": "handOver=offsets",
            "start": "offsets",
            "found": [{"topic": "orders", "partition": 0, "log": [0, 30], "start": 20}],
        },
    }
    other = {"source": "0/leg-live", "change": 0, "event": "topicAdded", "names": ["orders"]}
    queries: list[str] = []

    def events(query: str) -> str:
        queries.append(query)
        return json.dumps([other, switch])

    monkeypatch.setattr(jvm, "history_of", events)
    described = describe(Query({"batchId": 4, "sources": [SPLICE]}, "orders"))  # type: ignore[arg-type]
    assert queries == ["c0ffee"]
    assert str(described).splitlines()[3:] == [
        "live: handOver=offsets; decided at 2026-01-01T00:00:00Z, start: offsets, "
        "watermark delay: unknown",
        "topic   partition  log has  log is read from",
        "orders  0          0 to 29  20",
    ]
    assert "<td>0 to 29</td>" in described._repr_html_()
    assert described.to_dict()["hand_overs"][0]["leg"] == "live"
    assert described.hand_overs[0].source == 0
    assert described.to_dict()["sources"][0]["rows_behind"] == 120
