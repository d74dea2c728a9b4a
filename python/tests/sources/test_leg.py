# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options of one leg of a chain: policies of its hand-over, and columns of the log."""

from __future__ import annotations

import pytest
from chain_legs import BOUNDED, HISTORY

from splice import HandOver, HybridSource, OptionError


def test_policies_of_a_hand_over_are_options_of_the_leg() -> None:
    source = (
        HybridSource.builder("history", HISTORY)
        .add_source(
            "live",
            BOUNDED,
            HandOver.offsets(),
            on_holes="ignore",
            on_gap="warn",
            on_duplicates="warn",
        )
        .build()
    )
    options = source.options()
    assert options["live.onHoles"] == "ignore"
    assert options["live.onGap"] == options["live.onDuplicates"] == "warn"


@pytest.mark.parametrize(
    ("hand_over", "policies", "message"),
    [
        (HandOver.offsets(), {"on_holes": "warn"}, "'fail', 'fill' or 'ignore'"),
        (HandOver.offsets(), {"on_gap": "ignore"}, "'fail' or 'warn'"),
        (None, {"on_gap": "warn"}, "'on_gap' of leg 'live' is a policy of a hand-over"),
    ],
)
def test_a_policy_that_cannot_be(
    hand_over: HandOver | None, policies: dict[str, str], message: str
) -> None:
    builder = HybridSource.builder("history", HISTORY)
    with pytest.raises(OptionError, match=message):
        builder.add_source("live", BOUNDED, hand_over, **policies).build()


def test_log_columns_are_an_option_of_their_leg() -> None:
    source = (
        HybridSource.builder("old", HISTORY, log_columns="none")
        .add_source("new", HISTORY, log_columns={"topic": "t", "partition": "p", "offset": "ö"})
        .add_source("one", HISTORY, log_columns={"partition": "p", "offset": "o"})
        .add_source("live", BOUNDED, HandOver.offsets())
        .build()
    )
    options = source.options()
    assert options["old.logColumns"] == "none"
    assert options["one.logColumns"] == '{"partition": "p", "offset": "o"}'
    assert options["new.logColumns"] == '{"topic": "t", "partition": "p", "offset": "ö"}'
    assert "live.logColumns" not in options


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ("all", "the value is not a mapping"),
        ({"topic": "t", "partition": "p"}, "'offset' is missing"),
        (
            {"topic": "t", "partition": "p", "offset": "o", "ofset": "x"},
            "'ofset' is not one of topic, partition, offset",
        ),
        ({"topic": "t", "partition": "p", "offset": " "}, "'offset' does not name a column"),
        ({"topic": "t", "partition": "p", "offset": "p"}, "two keys have the same column"),
    ],
)
def test_log_columns_that_cannot_be(columns: str | dict[str, str], why: str) -> None:
    with pytest.raises(OptionError, match=f"'log_columns' of leg 'history' is .*: {why}"):
        HybridSource.builder("history", HISTORY, log_columns=columns)
    builder = HybridSource.builder("older", HISTORY)
    with pytest.raises(OptionError, match=f"'log_columns' of leg 'history' is .*: {why}"):
        builder.add_source("history", HISTORY, log_columns=columns)


def test_a_later_change_of_a_dictionary_does_not_change_a_builder() -> None:
    columns = {"topic": "t", "partition": "p", "offset": "o"}
    parameters = {"topic": "t"}
    rule = HandOver("offsets", parameters)
    builder = HybridSource.builder("history", HISTORY, log_columns=columns)
    before = builder.add_source("live", BOUNDED, rule).build().options()
    columns["topic"] = parameters["topic"] = "X"
    assert builder.add_source("live", BOUNDED, rule).build().options() == before
    assert before["history.logColumns"] == '{"topic": "t", "partition": "p", "offset": "o"}'
    assert before["live.handOver.topic"] == "t"
