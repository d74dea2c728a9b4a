# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the tutorial of the first backfill, and compare its output with the page."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from pages.page import Page
from servers.kafka.topics import KafkaTopics

PAGE = Page("docs/tutorials/first-backfill.md")
_EXAMPLE = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
_VARIABLE = (
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r" +"), " "),
    # Sizes of Parquet files depend on the version of Spark, and rates depend on the machine.
    (re.compile(r"(?m)( of \d+ files \d+ -) .* (\d+)$"), r"\1 ... \2"),
)


def examples() -> Iterator[tuple[str, str]]:
    """Return each program of the page with the output that follows the program, if any."""
    text = PAGE.path.read_text("utf-8")
    for found in _EXAMPLE.finditer(text):
        line = "\n" * text.count("\n", 0, found.start(1))
        yield line + found[1], found[2] or ""


def comparable(output: str) -> list[str]:
    """Return the lines of an output without values that differ from run to run."""
    for pattern, name in _VARIABLE:
        output = pattern.sub(name, output)
    return [line.strip() for line in output.strip().splitlines()]


def test_the_output_is_the_output_of_the_page(
    spark: SparkSession, topics: KafkaTopics, tmp_path: Path
) -> None:
    shown = {
        "/tmp/first-backfill": str(tmp_path / "lake"),
        "localhost:9092": topics.bootstrap_servers,
    }
    names: dict[str, Any] = {}
    try:
        for code, wanted in examples():
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                PAGE.run(code, shown, names)
            assert comparable(printed.getvalue()) == comparable(wanted), code
    finally:
        # Functions of the page keep the names alive, and with the names a client of Kafka.
        names.clear()
    PAGE.assert_all_executed()
