# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each error of a switch, and each remedy of docs/switch-errors.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import HISTORY_SCHEMA, HISTORY_SELECT, LIVE_SELECT, ids, order_id, write_archive
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from streams import drain, written

PAGE = Path(__file__).resolve().parents[2] / "docs" / "switch-errors.md"

ALL = range(12)
"""Orders of the topic, which has one partition. The offset of an order is its number."""

ARCHIVED = range(8)

HOLED = [n for n in ARCHIVED if n != 3]

RETURNED, RETURNS_ARCHIVED = range(100, 106), range(100, 103)
"""Orders of another topic, and the archived orders of that topic."""

FIRST = datetime.now(timezone.utc) - timedelta(hours=1)
"""Time of order 0. Order n is n seconds later."""

OFFSETS = {"live.handOver": "offsets"}
EVENT_TIME = {
    "live.handOver": "eventTime",
    "live.handOver.column": "event_time",
    "live.handOver.overlap": "10m",
}
MODIFICATION_TIME = {
    "live.handOver": "modificationTime",
    "live.handOver.overlap": "1h",
}

Change = Callable[[int], Mapping[str, object]]


@dataclass(frozen=True)
class Case:
    """History and log that cause an error, and the rows after a remedy.

    Attributes:
        outcome: Expected orders, including duplicates.
        rule: Options of the hand-over.
        rows: Orders in the history; None for a history without a file.
        trim: First offset that retention has not removed.
        change: Columns of an order of the history that differ from its record.
        returns: True if the history has the other topic too.
        more: Orders in another archive.
        timed: True if the records of the log have the times of their orders.
    """

    outcome: Iterable[int]
    rule: Mapping[str, str] = field(default_factory=lambda: OFFSETS)
    rows: Iterable[int] | None = ARCHIVED
    trim: int = 0
    change: Change = lambda _: {}
    returns: bool = False
    more: Iterable[int] = ()
    timed: bool = True


def _far(number: int) -> Mapping[str, object]:
    far = datetime(2099, 1, 1, tzinfo=timezone.utc)
    return {"event_time": far} if number == ARCHIVED[-1] else {}


FAIL_AT_HOLES = {**OFFSETS, "live.onHoles": "fail"}
BOTH = [*ARCHIVED, *ALL]

CASES = {
    ("HOLES", 0): Case(ALL, FAIL_AT_HOLES, HOLED),
    ("HOLES", 1): Case([n for n in ALL if n != 3], FAIL_AT_HOLES, HOLED),
    # Neither the history nor the log has the orders 3 and 8, because the log begins at 9.
    ("GAP", 0): Case(ALL, rows=HOLED, trim=9, more=[3, 8]),
    ("GAP", 1): Case([n for n in ALL if n not in (3, 8)], rows=HOLED, trim=9),
    ("GAP", 2): Case([n for n in ALL if n != 3], rows=HOLED, trim=8),
    ("HAND_OVER_TIME_GAP", 0): Case([*ARCHIVED, 10, 11], EVENT_TIME, trim=10),
    ("HAND_OVER_TIMES_INVALID", 0): Case(ALL, EVENT_TIME, timed=False),
    ("DUPLICATES", 0): Case([*ALL, 3], rows=[*ARCHIVED, 3]),
    # The topic was recreated, and has fewer records than its archive.
    ("HISTORY_BEYOND_LOG", 0): Case([*range(20), *ALL], rows=range(20)),
    ("PARTITION_NOT_FOUND", 0): Case([*ALL, *RETURNED], returns=True),
    ("NO_ROWS", 0): Case(ALL, rows=[]),
    ("NO_FILES", 0): Case(ALL, MODIFICATION_TIME, rows=None),
    ("NO_EVENT_TIME", 0): Case(ALL, EVENT_TIME, change=lambda _: {"event_time": None}),
    ("END_IN_FUTURE", 0): Case(ALL, EVENT_TIME, change=_far),
    ("END_IN_FUTURE", 1): Case(BOTH, EVENT_TIME, change=_far),
    ("INVALID_OFFSETS", 0): Case(BOTH, change=lambda n: {"offset": None} if n == 2 else {}),
}

OPTIONS = {
    "HOLES": "live.onHoles",
    "GAP": "live.onGap",
    "HAND_OVER_TIME_GAP": "live.onGap",
    "HAND_OVER_TIMES_INVALID": "live.onGap",
    "DUPLICATES": "live.onDuplicates",
    "HISTORY_BEYOND_LOG": "live.kafka.bootstrap.servers",
    "PARTITION_NOT_FOUND": "live.kafka.bootstrap.servers",
    "NO_ROWS": "history.logColumns",
    "END_IN_FUTURE": "history.modifiedBefore",
}
"""An option that the error of a condition names with its leg."""


@dataclass(frozen=True)
class Remedy:
    """Condition of an error, and the lines of one remedy, with `-` and `+`."""

    condition: str
    lines: list[str]

    def apply(self, options: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
        """Return the options of the repaired query.

        Args:
            options: Options of the failed query.
            names: Topics and paths by their names on the page.
        """
        changed = dict(options)
        for line in self.lines:
            sign, key, value = re.fullmatch(r"([-+]) (\S+) = (.+)", line).groups()  # type: ignore[union-attr]
            if key in ("live.subscribe", "more.path"):
                value = ",".join(names[name] for name in value.split(","))
            if sign == "-":
                assert changed.pop(key) == value
            else:
                changed[key] = value
        return changed


def _remedies() -> dict[tuple[str, int], Remedy]:
    found = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        name = section.split("\n", 1)[0]
        condition = re.search(rf"`(SPLICE_\w+\.{name})`", section)
        assert condition, f"section {name} does not contain its condition"
        for n, block in enumerate(re.findall(r"```diff\n(.*?)```", section, re.DOTALL)):
            found[name, n] = Remedy(condition.group(1), block.splitlines())
    return found


REMEDIES = _remedies()


def test_each_remedy_has_a_case() -> None:
    assert set(CASES) == set(REMEDIES)


@pytest.mark.parametrize("key", CASES, ids=lambda key: f"{key[0]}-{key[1]}")
def test_the_remedy_continues_the_query(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
    key: tuple[str, int],
) -> None:
    case, remedy = CASES[key], REMEDIES[key]
    more = tmp_path / "more"
    names = {"orders": make_topic(1), "/lake/more/": str(more)}
    _produce(topics, names["orders"], ALL, case.timed)
    if case.returns:
        names["returns"] = make_topic(1)
        _produce(topics, names["returns"], RETURNED)
    _archive(names, history_path, case)
    if case.more:
        write_archive([_row(names["orders"], n, n) for n in case.more], more)
    if case.trim:
        topics.delete_records(names["orders"], {0: case.trim})
    options = {
        "source": "hybrid",
        "legs": "history,live",
        "history.source": "files",
        "history.format": "parquet",
        "history.path": str(history_path),
        "history.schema": HISTORY_SCHEMA,
        "history.onEmpty": "warn",
        "history.select": HISTORY_SELECT,
        "live.source": "kafka",
        "live.kafka.bootstrap.servers": topics.bootstrap_servers,
        "live.subscribe": names["orders"],
        "live.select": LIVE_SELECT,
        **case.rule,
    }
    with pytest.raises(PySparkException) as raised:
        _run(spark, options, tmp_path)
    assert f"[{remedy.condition}]" in str(raised.value)
    if key[0] in OPTIONS:
        assert f"'{OPTIONS[key[0]]}'" in str(raised.value)
    assert not list((tmp_path / "checkpoint").rglob("hand-over-*"))

    _run(spark, remedy.apply(options, names), tmp_path)
    expected = Counter(map(order_id, case.outcome))
    assert Counter(ids(written(spark, tmp_path))) == expected


def _run(spark: SparkSession, options: Mapping[str, str], folder: Path) -> None:
    drain(spark.readStream.format("splice").options(**options).load(), folder)


def _time(number: int) -> datetime:
    return FIRST + timedelta(seconds=number % 100)


def _produce(topics: KafkaTopics, topic: str, numbers: Iterable[int], timed: bool = True) -> None:
    topics.produce(
        topic,
        [
            Record(
                '{"amount": 1.0}', order_id(n), 0, int(_time(n).timestamp() * 1000) if timed else 1
            )
            for n in numbers
        ],
    )


def _archive(names: Mapping[str, str], path: Path, case: Case) -> None:
    if case.rows is None:
        path.mkdir()
        return
    rows = [_row(names["orders"], n, n) | dict(case.change(n)) for n in case.rows]
    if case.returns:
        rows += [_row(names["returns"], n, n - RETURNED[0]) for n in RETURNS_ARCHIVED]
    write_archive(rows, path)


def _row(topic: str, number: int, offset: int) -> dict[str, object]:
    return {
        "order_id": order_id(number),
        "amount": 1.0,
        "event_time": _time(number),
        "topic": topic,
        "partition": 0,
        "offset": offset,
    }
