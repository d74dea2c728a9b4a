# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the programs of the page about tuning, and compare its formula with the readers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from orders import orders
from pages.page import Page
from servers.kafka.topics import KafkaTopics
from sessions import RACK

PAGE = Page("docs/how-to/tune.md")
ORDERS = range(60)


def test_each_program(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    shown = {
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
        "/checkpoints": str(tmp_path),
        "env:ZONE": f"conf:{RACK}",
    }
    measure, sizing, racks = PAGE.blocks("python")
    names: dict[str, Any] = {"spark": spark}

    def output(code: str) -> str:
        capsys.readouterr()
        PAGE.run(code, shown, names)
        return capsys.readouterr().out

    shown_batches, _, description = output(measure).partition("\n\n")[0].partition("leg ")
    batches = [
        [int(word) for word in one.split()]
        for one in re.findall(r"(?m)^\d+ \d+ \d+$", shown_batches)
    ]
    assert sum(rows for _, rows, _ in batches) == len(ORDERS)
    assert all(rows <= 20 and slots == 2 for _, rows, slots in batches)
    assert "rows behind" in description
    assert output(sizing) == PAGE.blocks("text")[0].lstrip("\n")
    assert output(racks) == f"{len(ORDERS)}\n"
    PAGE.assert_all_executed()


def test_the_formula_is_the_formula_of_readers(spark: SparkSession) -> None:
    names: dict[str, Any] = {}
    PAGE.run(PAGE.blocks("python")[1], {}, names)
    response, rounded = names["response_bytes"], names["power_of_two"]
    context: Any = spark.sparkContext
    limits = context._jvm.splice.kafka.internal.options.ReadLimits
    companion = getattr(context._jvm.splice.kafka.internal.consumer, "ReadBudget$")
    budget = getattr(companion, "MODULE$")
    for heap in (64 << 20, 1 << 30, 3 << 30, 64 << 30):
        total = min(max(heap // 8, 16 << 20), 512 << 20)
        assert budget.default(heap) == total
        for tasks in (1, 3, 4, 16):
            share = max(total // rounded(tasks), 1 << 20)
            for partitions in (1, 2, 17, 200, 5000):
                assert limits.ofBatches(share, partitions).fetchBytes() == response(
                    total, tasks, partitions
                )
