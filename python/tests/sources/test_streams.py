# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builder of stream sources: resulting options, and rejected arguments."""

from __future__ import annotations

import pytest

from splice import FileSource, OptionError, StreamSource


def test_a_format_with_its_options() -> None:
    source = StreamSource.builder("rate").options(rowsPerSecond=5, rampUpTime="1s").build()
    assert source.options() == {
        "source": "stream",
        "format": "rate",
        "rowsPerSecond": "5",
        "rampUpTime": "1s",
    }
    assert not source.bounded


def test_a_table_with_an_end() -> None:
    source = StreamSource.table("lake.orders").bounded().build()
    assert source.options() == {"source": "stream", "table": "lake.orders", "bounded": "true"}
    assert source.bounded
    assert not StreamSource.table("lake.orders").option("bounded", False).build().bounded


def test_a_stream_without_an_end_has_no_next_leg() -> None:
    files = FileSource.builder("parquet", "/lake/orders").build()
    with pytest.raises(OptionError) as raised:
        StreamSource.builder("rate").build().then(files)
    assert raised.value.getCondition() == "SPLICE_BUILDER.UNBOUNDED_LEG"
    assert StreamSource.builder("rate").bounded().build().then(files).bounded


def test_exactly_one_origin_is_needed() -> None:
    for builder in (
        StreamSource.builder(" "),
        StreamSource.table(""),
        StreamSource.builder("rate").option("table", "lake.orders"),
    ):
        with pytest.raises(OptionError, match=r"StreamSource\.builder\(format\)") as raised:
            builder.build()
        assert raised.value.getCondition() == "SPLICE_BUILDER.AMBIGUOUS_SELECTION"


def test_an_option_of_a_chain_is_rejected() -> None:
    with pytest.raises(OptionError, match="handOver"):
        StreamSource.builder("rate").option("handOver", "offsets").build()
