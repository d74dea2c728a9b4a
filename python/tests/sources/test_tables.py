# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builder of table sources: resulting options, legs of a chain, and rejected arguments."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from chain_legs import LIVE

from splice import HandOver, OptionError, TableSource

ORDERS = TableSource.table("lake.sales.orders")


def test_a_table_of_a_catalog() -> None:
    source = ORDERS.where("country = 'DE'").version_as_of(12).slice_by("day").slice_every("1d")
    assert source.max_bytes_per_trigger("8g").build().options() == {
        "source": "table",
        "table": "lake.sales.orders",
        "where": "country = 'DE'",
        "versionAsOf": "12",
        "sliceBy": "day",
        "sliceEvery": "1d",
        "maxBytesPerTrigger": "8g",
    }


def test_a_table_of_a_format_passes_options_to_spark() -> None:
    builder = TableSource.format("jdbc").options(url="jdbc:postgresql://h/d", dbtable="orders")
    source = builder.on_no_version("warn").slice_by("id").slices(10).build()
    assert source.options() == {
        "source": "table",
        "format": "jdbc",
        "url": "jdbc:postgresql://h/d",
        "dbtable": "orders",
        "onNoVersion": "warn",
        "sliceBy": "id",
        "slices": "10",
    }


def test_values_of_python() -> None:
    time = datetime(2026, 11, 1, tzinfo=timezone.utc)
    assert ORDERS.timestamp_as_of(time).build().options()["timestampAsOf"] == "2026-11-01T00:00:00Z"
    for width, text in ((timedelta(days=1), "24h"), (0.5, "0.5"), (1000, "1000")):
        options = ORDERS.slice_by("x").slice_every(width).build().options()
        assert options["sliceEvery"] == text
    with pytest.raises(OptionError, match=r"'width' is .* is negative"):
        ORDERS.slice_every(timedelta(days=-1))
    with pytest.raises(OptionError, match="has no time zone"):
        ORDERS.timestamp_as_of(datetime(2026, 11, 1))


@pytest.mark.parametrize("given", ["", " ", None, 7])
def test_a_name_and_a_format_are_needed(given: Any) -> None:
    for builder in (TableSource.table, TableSource.format):
        with pytest.raises(OptionError, match=r"Set the name of a table") as raised:
            builder(given)
        assert raised.value.getCondition() == "SPLICE_BUILDER.TABLE_NOT_SET"


def test_a_table_is_a_bounded_leg() -> None:
    history = ORDERS.version_as_of(3).build()
    assert history.bounded
    chain = history.then(LIVE, hand_over=HandOver.modification_time("1h"))
    options = chain.options()
    assert options["history.source"] == "table"
    assert options["history.table"] == "lake.sales.orders"
    assert options["history.versionAsOf"] == "3"
    assert "history  table  lake.sales.orders" in repr(chain)
    assert "options: versionAsOf='3'" in repr(chain)


def test_the_place_of_a_format_is_in_the_text_of_a_chain() -> None:
    history = TableSource.format("delta").option("path", "/lake/orders").build()
    assert "history  table  delta  /lake/orders" in repr(history.then(LIVE))


def test_a_table_accepts_no_hand_over_and_no_option_of_a_chain() -> None:
    history = ORDERS.build()
    with pytest.raises(OptionError) as raised:
        history.then(ORDERS.build(), hand_over=HandOver.offsets())
    assert raised.value.getCondition() == "SPLICE_BUILDER.HAND_OVER_NOT_SUPPORTED"
    with pytest.raises(OptionError) as raised:
        ORDERS.option("handOver", "offsets").build()
    assert raised.value.getCondition() == "SPLICE_BUILDER.OPTION_OF_HYBRID"
