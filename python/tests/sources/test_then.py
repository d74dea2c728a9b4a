# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Chains by ``then``, compared with chains by builders."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from chain_legs import BOUNDED, HISTORY, LIVE

from splice import FileSource, HandOver, HybridSource, OptionError
from splice._internal import jvm

COLUMNS = {"topic": "t", "partition": "p", "offset": "o"}
OFFSETS = HandOver.offsets()


@pytest.mark.parametrize(
    ("arguments", "first", "second"),
    [
        ({}, {}, {}),
        ({"hand_over": OFFSETS}, {}, {"hand_over": OFFSETS}),
        ({"select": "id"}, {"select": "id"}, {"select": "id"}),
        ({"select": ("id", "k AS id")}, {"select": "id"}, {"select": "k AS id"}),
        ({"select": (None, "k AS id")}, {}, {"select": "k AS id"}),
        ({"select": {"live": "k AS id"}}, {}, {"select": "k AS id"}),
        (
            {"select": {"history": "id", "live": "k"}},
            {"select": "id"},
            {"select": "k"},
        ),
        (
            {
                "hand_over": OFFSETS,
                "on_holes": "ignore",
                "on_gap": "warn",
                "on_duplicates": "warn",
                "log_columns": COLUMNS,
            },
            {"log_columns": COLUMNS},
            {
                "hand_over": OFFSETS,
                "on_holes": "ignore",
                "on_gap": "warn",
                "on_duplicates": "warn",
            },
        ),
    ],
)
def test_the_options_equal_the_options_of_the_builder(
    arguments: dict[str, Any], first: dict[str, Any], second: dict[str, Any]
) -> None:
    built = HybridSource.builder("history", HISTORY, **first)
    wanted = built.add_source("live", LIVE, **second).build()
    found = HISTORY.then(LIVE, **arguments)
    assert found.options() == wanted.options()
    assert list(found.options()) == list(wanted.options())
    assert found.bounded == wanted.bounded


def test_names_of_legs() -> None:
    chain = HISTORY.then(BOUNDED, names=("old", "new"), select={"old": "id", "new": "k"})
    assert chain.options()["legs"] == "old,new"
    assert chain.options()["new.select"] == "k"


def test_a_third_leg() -> None:
    newer = FileSource.builder("orc", "/lake/newer").build()
    chain = HISTORY.then(newer, names=("old", "new"), log_columns=(None, COLUMNS)).then(
        LIVE, "live", hand_over=OFFSETS, select="k", on_gap="warn"
    )
    wanted = (
        HybridSource.builder("old", HISTORY)
        .add_source("new", newer, log_columns=COLUMNS)
        .add_source("live", LIVE, OFFSETS, "k", on_gap="warn")
        .build()
    )
    assert chain.options() == wanted.options()
    assert not chain.bounded


def test_options_of_the_chain_remain() -> None:
    built = HybridSource.builder("a", HISTORY).add_source("b", BOUNDED).option("schema", "id INT")
    chain = built.build().then(LIVE, "c")
    assert chain.options() == built.add_source("c", LIVE).build().options()
    assert chain.options()["schema"] == "id INT"


def test_a_chain_does_not_change() -> None:
    chain = HISTORY.then(BOUNDED)
    before = chain.options()
    chain.then(LIVE, "later")
    assert chain.options() == before


def test_a_running_jvm_checks_each_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[dict[str, str]] = []
    monkeypatch.setattr(jvm, "check", checked.append)
    two = HISTORY.then(BOUNDED)
    three = two.then(LIVE, "later")
    assert checked == [two.options(), three.options()]


@pytest.mark.parametrize(
    ("arguments", "condition"),
    [
        ({"select": {"other": "id"}}, "INVALID_LEG_SELECT"),
        ({"select": ("a", "b", "c")}, "INVALID_LEG_SELECT"),
        ({"select": ["order_id", "amount"]}, "INVALID_LEG_SELECT"),
        ({"select": 5}, "INVALID_LEG_SELECT"),
        ({"select": (" ", "b")}, "INVALID_SELECT"),
        ({"names": "ab"}, "INVALID_LEG_NAMES"),
        ({"names": ("a",)}, "INVALID_LEG_NAMES"),
        ({"names": ("a", "A")}, "DUPLICATE_LEG_NAME"),
        ({"names": ("a", 1)}, "INVALID_LEG_NAME"),
        ({"on_gap": "warn"}, "POLICY_WITHOUT_HAND_OVER"),
        ({"hand_over": OFFSETS, "on_gap": "ignore"}, "INVALID_POLICY"),
        ({"log_columns": ("a", "b", "c")}, "INVALID_LOG_COLUMNS"),
        ({"log_columns": {"history": COLUMNS}}, "INVALID_LOG_COLUMNS"),
        ({"hand_over": "offsets"}, "INVALID_HAND_OVER"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], condition: str) -> None:
    with pytest.raises(OptionError) as raised:
        HISTORY.then(LIVE, **arguments)
    assert raised.value.getCondition() == f"SPLICE_BUILDER.{condition}"
    assert raised.value.getMessageParameters()


def test_legs_that_do_not_fit() -> None:
    for call, condition in (
        (lambda: LIVE.then(HISTORY), "UNBOUNDED_LEG"),
        (lambda: HISTORY.then(LIVE).then(HISTORY, "c"), "UNBOUNDED_LEG"),
        (lambda: HISTORY.then(HISTORY.then(LIVE)), "NESTED_HYBRID"),
        (lambda: HISTORY.then(BOUNDED).then(LIVE, "live"), "DUPLICATE_LEG_NAME"),
        (lambda: HISTORY.then(FileSource.builder("orc", "/a")), "INVALID_SOURCE"),  # type: ignore[arg-type]
    ):
        with pytest.raises(OptionError) as raised:
            call()
        assert raised.value.getCondition() == f"SPLICE_BUILDER.{condition}"


def test_the_text_is_a_tree() -> None:
    chain = HISTORY.then(
        LIVE,
        hand_over=HandOver.offsets("t"),
        select=(
            "order_id",
            "CAST(key AS STRING) AS order_id, CAST(value AS STRING) AS value, offset",
        ),
        on_gap="warn",
        log_columns=COLUMNS,
    )
    assert repr(chain).splitlines() == [
        "HybridSource",
        "├─ history  files  parquet  /lake/orders/  select order_id",
        "│    ↳ log columns: topic=t, partition=p, offset=o",
        "└─ live     kafka  orders @ broker:9092    select CAST(key AS STRING) AS order_id, "
        "CAST(value AS STRING) AS v…",
        "     ↳ hand-over: offsets (topic=t), on gap: warn",
    ]


def test_the_tree_has_other_options_and_options_of_the_chain() -> None:
    live = HandOver.now_minus(timedelta(hours=1))
    builder = HybridSource.builder("a", HISTORY, log_columns="none").add_source("b", LIVE, live)
    text = repr(builder.option("slots", 3))
    assert text.splitlines()[0] == "HybridSourceBuilder(slots='3')"
    assert "│    ↳ log columns: none" in text
    assert "     ↳ hand-over: nowMinus (duration=1h)" in text
    chain = FileSource.builder("csv", "/a", "/b").option("header", True).build().then(LIVE)
    assert 'csv  ["/a", "/b"]' in repr(chain)
    assert "↳ options: header='true'" in repr(chain)


def test_html_is_escaped_and_has_no_colors() -> None:
    chain = HISTORY.then(LIVE, select=("id", "<b>"), hand_over=HandOver.event_time("a<b", "1h"))
    html = chain._repr_html_()
    assert "<td>&lt;b&gt;</td>" in html
    assert "hand-over: eventTime (column=a&lt;b, overlap=1h)" in html
    assert "color" not in html
    html = FileSource.builder("csv", "/<lake>").build()._repr_html_()
    assert "<td>path</td><td>/&lt;lake&gt;</td>" in html
