# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the page about monitoring, and check its files for Prometheus and Grafana."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from orders import archive, history, history_then_live, live, orders
from pages.page import ROOT, Page
from programs.launch import run
from servers.kafka.topics import KafkaTopics
from splice import DynamicKafkaSource, FileSource
from streams import drain

PAGE = Page("docs/how-to/monitor.md")
ASSETS = ROOT / "docs" / "assets"
RULES = ASSETS / "prometheus-rules.yaml"
DASHBOARD = ASSETS / "grafana-dashboard.json"
Series = tuple[str, dict[str, str], float]


def rules() -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panel_queries() -> list[str]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def relabeled(name: str, labels: dict[str, str]) -> dict[str, str] | None:
    """Return the labels of a series by the rules of the page; None if a rule drops the series."""
    found = {"__name__": name, **labels}
    (job,) = yaml.safe_load((ASSETS / "prometheus-scrape.yaml").read_text())["scrape_configs"]
    for rule in job["metric_relabel_configs"]:
        if rule.get("action") == "labeldrop":
            found = {key: one for key, one in found.items() if not re.fullmatch(rule["regex"], key)}
            continue
        match = re.fullmatch(rule["regex"], ";".join(found[key] for key in rule["source_labels"]))
        if match and rule.get("action") == "drop":
            return None
        if match:
            value = re.sub(r"\$(\d)", r"\\g<\1>", rule["replacement"])
            found[rule["target_label"]] = match.expand(value)
    return found


def series(text: str) -> Iterator[Series]:
    """Return the series of a page of metrics after the rules."""
    for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", text, re.MULTILINE):
        read = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if found := relabeled(name, read):
            yield found.pop("__name__"), found, float(value)


def test_each_block_of_python(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.range(20).write.parquet(str(tmp_path / "history"))
    source = FileSource.builder("parquet", tmp_path / "history").build()
    names: dict[str, Any] = {"spark": spark, "query": drain(source.read_stream(spark), tmp_path)}
    blocks = PAGE.blocks("python")
    assert len(blocks) == 5
    for block in blocks:
        PAGE.run(block, {}, names)
    written = capsys.readouterr().out
    assert "The query has ended." in written
    assert "100 %" in written
    assert "rows behind" in written
    PAGE.assert_all_executed()


def test_each_metric_of_the_rules_and_of_the_dashboard_is_on_the_page_of_the_driver(
    spark: SparkSession, topics: KafkaTopics, history_path: Path, tmp_path: Path
) -> None:
    # The name of the topic ends as the name of a source.
    topic = f"orders-{uuid.uuid4().hex[:8]}-7"
    topics.create(topic, 2)
    topics.produce(topic, orders(range(40), 2))
    archive(topics, topic, history_path, {0: 10, 1: 10})
    document = {
        "version": 1,
        "clusters": {"east": {"bootstrapServers": topics.bootstrap_servers}},
        "streams": {"orders": {"east": [topic]}},
    }
    (tmp_path / "streams.json").write_text(json.dumps(document))
    many = DynamicKafkaSource.builder().metadata_file(str(tmp_path / "streams.json"))
    sources = {
        "orders": history_then_live(history(history_path), live(topics, topic)).options(),
        "many clusters": many.streams("orders").starting_offsets("earliest").build().options(),
    }
    (properties,) = PAGE.blocks("properties")
    lines = [line for line in properties.splitlines() if line]
    conf = dict(line.split("=", 1) for line in lines) | {"spark.ui.port": "0"}
    run([sys.executable], "prometheus_text", json.dumps(sources), json.dumps(conf), str(tmp_path))

    found = list(series((tmp_path / "metrics.txt").read_text()))
    text = "\n".join([*(rule["expr"] for rule in rules()), *panel_queries()])
    used = set(re.findall(r"splice_\w+", text))
    assert len(used) > 20
    assert used - {name for name, _, _ in found} == set()
    recorded = set(re.findall(r"splice:[\w:]+", text))
    assert recorded == {rule["record"] for rule in rules() if "record" in rule}

    source = {"namespace": "orders", "query": "orders", "source": "0"}
    many_labels = {**source, "query": "many_clusters"}
    shown = topic.replace("-", "_")
    for expected in (
        ("splice_rowsBehind", source, 0),
        ("splice_switchesTotal", source, 1),
        ("splice_topic_partitions", {**source, "topic": shown}, 2),
        ("splice_cluster_available", {**many_labels, "cluster": "east"}, 1),
        ("splice_cluster_topic_partitions", {**many_labels, "cluster": "east", "topic": shown}, 2),
        ("splice_queries", {"namespace": "orders"}, 2),
    ):
        assert expected in found


def test_each_alert_is_in_the_table_of_the_page() -> None:
    alerts = [rule["alert"] for rule in rules() if "alert" in rule]
    table = PAGE.path.read_text().split("\n## Alerts\n", 1)[1]
    assert sorted(re.findall(r"^\| `(Splice\w+)`", table, re.MULTILINE)) == sorted(alerts)
    severities = [rule["labels"]["severity"] for rule in rules() if "alert" in rule]
    shown = dict(re.findall(r"^\| `(Splice\w+)` \|.*?\| (page|ticket) \|", table, re.MULTILINE))
    assert shown == dict(zip(alerts, severities, strict=True))
    (example,) = PAGE.blocks("yaml")
    assert yaml.safe_load(example)[0] in rules()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not on the PATH")
def test_the_rules_alert_for_the_values_of_their_test() -> None:
    for command in (["check", "config"], ["test", "rules"]):
        file = "prometheus-scrape.yaml" if "config" in command else "prometheus-rules-test.yaml"
        done = subprocess.run(
            ["promtool", *command, file], cwd=ASSETS, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
