# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the README, and check the facts of the README."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from conftest import MakeTopic
from demo.picture import lines_of_the_demo, svg
from orders import archive, assert_each_once, ids, order_id, orders
from pages.page import ROOT, Page
from servers.kafka.topics import KafkaTopics
from streams import drain, written

README = Page("README.md")
GETTING_STARTED = Page("docs/getting-started.md")
ORDERS = range(90)

Snippet = Callable[[str], str]


@pytest.fixture
def snippet(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
) -> Snippet:
    """Return the code of a section, with an existing archive and topic."""
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(topics, topic, history_path, {0: 10, 1: 20, 2: 30})
    document = {
        "version": 1,
        "generation": 1,
        "clusters": {"east": {"bootstrapServers": topics.bootstrap_servers}},
        "streams": {topic: {"east": [topic]}},
    }
    (tmp_path / "streams.yaml").write_text(json.dumps(document))
    places = {
        "/lake/orders/": str(history_path),
        "/tables/orders/": str(tmp_path / "out"),
        "/checkpoints/orders/": str(tmp_path / "checkpoint"),
        "/config/streams.yaml": str(tmp_path / "streams.yaml"),
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        "'orders'": f"'{topic}'",
    }

    def of(name: str) -> str:
        return README.replaced(README.section(name), places)

    return of


def _run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, README.name, "exec"), names)
    return names


def _keys(rows: DataFrame) -> list[str]:
    return [row["key"].decode() for row in rows.select("key").collect()]


def test_each_program(spark: SparkSession, snippet: Snippet, tmp_path: Path) -> None:
    names = _run(snippet("python"))
    try:
        names["query"].processAllAvailable()
    finally:
        names["query"].stop()
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    assert_each_once(ids(names["orders"].read()), ORDERS)
    for name in ("kafka", "clusters"):
        drain(_run(snippet(name), spark=spark)["df"], tmp_path / name)
        assert sorted(_keys(written(spark, tmp_path / name))) == [order_id(n) for n in ORDERS]
    README.assert_all_executed()


def _text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def test_the_package_has_the_first_query_of_the_readme() -> None:
    (packaged,) = re.findall(r"```python\n(.*?)```", _text("python/README.md"), re.DOTALL)
    assert packaged == README.section("first")


def test_the_figures_are_the_figures_of_the_benchmarks() -> None:
    lines = _text(README.name).splitlines()
    figures = [line for line in lines if re.match(r"\| [\d,]+ (records|rows) ", line)]
    summary, results = _text("docs/benchmarks.md").split("## Results", 1)
    assert len(figures) == 5
    for line in figures:
        assert line in summary.splitlines()
        ratio = line.strip("| ").rsplit("|", 1)[1].strip()
        digits = len(ratio.partition(".")[2])
        measured = {f"{float(cell):.{digits}f}" for cell in re.findall(r"\b\d+\.\d+\b", results)}
        assert ratio in measured


def test_the_badges_and_the_versions_are_the_tested_versions() -> None:
    versions = dict(
        line.split("=", 1)
        for line in _text("project/spark.properties").splitlines()
        if "=" in line and not line.startswith("#")
    )
    tested = versions["tested"].split()
    lines = [version.rpartition(".")[0] for version in tested]
    assert f"[Spark {', '.join(lines)}]" in _text(README.name)
    assert f"Spark-{'_%7C_'.join(lines)}-" in _text(README.name)
    shown = f"{', '.join(tested[:-1])} and {tested[-1]}"
    assert f"tests with {shown} |" in _text(GETTING_STARTED.name)
    version = _text("VERSION").strip()
    assert f"**Status:** {version}." in _text(README.name)
    assert f"Versions of Splice {version} |" in _text(GETTING_STARTED.name)


def test_the_picture_has_three_kills_and_no_lost_order() -> None:
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", _text("docs/assets/demo.svg"))
    lines = [html.unescape(line).replace("\xa0", " ") for line in shown]
    kills = [line for line in lines if "killed the driver" in line]
    moments = ("in the history", "at the switch", "in the live leg")
    assert [moment in kill for moment, kill in zip(moments, kills, strict=True)] == [True] * 3
    assert re.search(r"^rows \d+ missing 0 duplicated 0$", "\n".join(lines), re.MULTILINE)


def test_the_picture_has_the_lines_of_the_demo_only() -> None:
    printed = [
        "SPLICE_VERSION=… python tests/demo/run.py",
        "starting a Kafka broker",
        "   1.5 s            0 rows in the sink, starting",
        "   3.0 s          300 rows in the sink, batch   0, leg history",
        "   3.5 s  killed the driver in the history",
        "rows 900 missing 0 duplicated 0",
    ]
    shown = list(lines_of_the_demo(printed))
    assert shown == [printed[1], *printed[3:]]
    assert "300&#160;rows" in svg("make demo", shown)
