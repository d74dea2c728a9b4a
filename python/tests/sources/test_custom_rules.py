# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Hand-over rules that are functions or classes of the user."""

from __future__ import annotations

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


def test_a_function_needs_a_classic_session_and_a_class_does_not() -> None:
    def chain(rule: HandOver) -> HybridSource:
        return HybridSource.builder("history", HISTORY).add_source("live", LIVE, rule).build()

    chain(HandOver.custom("my.Rule"))._prepare()
    with pytest.raises(SetupError, match="With Spark Connect, set the name of a class"):
        chain(HandOver.custom(first_offsets))._prepare()
