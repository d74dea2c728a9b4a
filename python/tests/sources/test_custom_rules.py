# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Hand-over rules that are functions or classes of the user."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from chain_legs import HISTORY, LIVE

from splice import (
    HandOver,
    HybridSource,
    OptionError,
    SetupError,
)


def first_offsets(evidence: dict[str, Any]) -> dict[str, Any]:
    return {
        "offsets": {
            topic: dict.fromkeys(partitions, 0) for topic, partitions in evidence["log"].items()
        }
    }


def test_a_custom_rule_is_a_function_or_a_class() -> None:
    rule = HandOver.custom(first_offsets, topic="t", column="ts")
    options = rule.options()
    name = options.pop("handOver.python")
    assert name.startswith("first_offsets-")
    assert options == {"handOver": "custom", "handOver.topic": "t", "handOver.column": "ts"}
    assert HandOver.custom("my.Rule").options() == {
        "handOver": "custom",
        "handOver.class": "my.Rule",
    }
    for wrong in (7, "", None):
        with pytest.raises(OptionError, match=r"is not a hand-over rule\. Set a function"):
            HandOver.custom(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("returned", "start"),
    [
        ({"timestamp": datetime(1970, 1, 1, 0, 0, 7, tzinfo=timezone.utc)}, {"timestamp": 7000}),
        ({"timestamp": "1970-01-01T00:00:07Z"}, {"timestamp": 7000}),
        ({"timestamp": 7000}, {"timestamp": 7000}),
        ({"offsets": {"orders": {0: 12}}}, {"offsets": {"orders": {"0": 12}}}),
        ('{"timestamp": 7000}', {"timestamp": 7000}),
    ],
)
def test_the_start_of_a_function(
    monkeypatch: pytest.MonkeyPatch, returned: Any, start: dict[str, Any]
) -> None:
    registered: dict[str, Callable[[str], str]] = {}
    monkeypatch.setattr("splice.hand_over.register_rule", registered.__setitem__)
    rule = HandOver.custom(lambda _: returned)
    rule.prepare()
    assert json.loads(registered[rule.parameters["python"]]("{}")) == start


def test_a_function_that_returns_a_time_without_a_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: dict[str, Callable[[str], str]] = {}
    monkeypatch.setattr("splice.hand_over.register_rule", registered.__setitem__)
    HandOver.custom(lambda _: {"timestamp": datetime(2026, 1, 1)}).prepare()
    (function,) = registered.values()
    with pytest.raises(OptionError, match="has no time zone"):
        function("{}")


def test_a_function_needs_a_classic_session_and_a_class_does_not() -> None:
    def chain(rule: HandOver) -> HybridSource:
        return HybridSource.builder("history", HISTORY).add_source("live", LIVE, rule).build()

    chain(HandOver.custom("my.Rule"))._prepare()
    with pytest.raises(SetupError, match="With Spark Connect, set the name of a class"):
        chain(HandOver.custom(first_offsets))._prepare()
