# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the programs of the page about upgrades on the checkpoint of an earlier version."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fixtures.kept_run import KeptRun, drain, number_of
from pages.page import Page
from servers.kafka.cluster import KafkaCluster

PAGE = Page("docs/how-to/upgrade.md")
KEPT = KeptRun(Path(__file__).parents[2] / "fixtures" / "kept-0.1.0" / "kafka")


def test_a_rehearsal_and_the_way_back(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with KafkaCluster(cluster_id=KEPT.described.clusters["east"], heap="384m") as kafka:
        clusters = {"east": kafka}
        checkpoint = KEPT.restore(spark, clusters, tmp_path)
        (tmp_path / "checkpoint").rename(tmp_path / "orders")
        (rehearsal,) = PAGE.blocks("python")
        shown = {
            "/checkpoints": str(tmp_path),
            "/lake": str(tmp_path / "lake"),
            "broker:9092": kafka.bootstrap_servers,
            '.topics("orders")': '.topic_pattern("kafka-.*")',
        }
        before = files(tmp_path / "orders")
        rows = PAGE.run(rehearsal, shown, {"spark": spark})["rows"]
        read = [number_of(row["key"].decode()) for row in rows.collect()]
        assert sorted(read) == KEPT.remaining
        assert "kafka-grown" in capsys.readouterr().out
        assert files(tmp_path / "orders") == before

        (tmp_path / "orders").rename(tmp_path / "checkpoint")
        decided = checkpoint.entries()
        assert decided
        entry = tmp_path / "checkpoint" / "sources" / "0" / "splice" / "chain-00000000"
        content = entry.read_text()
        entry.write_text(content.replace("splice 1 ", "splice 2 ", 1))
        with pytest.raises(Exception, match="VERSION_NOT_SUPPORTED") as raised:
            drain(KEPT.read(spark, clusters, tmp_path), tmp_path)
        shown_error = PAGE.blocks("text")[0].strip()
        expected = shown_error.replace("/checkpoints/orders", str(tmp_path / "checkpoint"))
        assert expected in str(raised.value)
        assert not (tmp_path / "out").exists()

        # The failed start changed nothing, so the later version continues.
        entry.write_text(content)
        drain(KEPT.read(spark, clusters, tmp_path), tmp_path)
    PAGE.assert_all_executed()


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files of a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
