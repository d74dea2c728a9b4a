# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that spark-submit starts."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orders import archive, assert_each_once, history, history_then_live, ids, live, orders
from pages.page import Page
from programs.launch import environment, program, run, spark_submit
from servers.jars import ROOT
from servers.kafka.topics import KafkaTopics
from splice._internal.jars import jar_paths
from streams import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conftest import MakeTopic

PAGE = Page("docs/getting-started.md", by="tests/deployment/test_submit.py")
ORDERS = range(60)


@pytest.fixture
def options(
    spark: SparkSession, topics: KafkaTopics, make_topic: MakeTopic, history_path: Path
) -> str:
    """Return the options of an archive and its topic, as JSON."""
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(spark, topics, topic, history_path, {0: 10, 1: 5})
    return json.dumps(history_then_live(history(history_path), live(topics, topic)).options())


@pytest.fixture
def submit(tmp_path: Path) -> list[str]:
    """Return the command of spark-submit with separate folders."""
    command = [spark_submit(), "--master", "local[2]", "--driver-memory", "1g"]
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.jars.ivy": f"{tmp_path}/ivy",
        "spark.sql.warehouse.dir": f"{tmp_path}/warehouse",
    }.items():
        command += ["--conf", f"{name}={value}"]
    return command


def test_the_commands_of_the_page(
    spark: SparkSession, submit: list[str], options: str, tmp_path: Path
) -> None:
    repository = Path(
        os.environ.get("SPLICE_REPOSITORY") or ROOT / "target" / "repository"
    ).resolve()
    version = (ROOT / "VERSION").read_text().strip()
    assert list(repository.rglob(f"*-{version}.pom")), "make jar publishes to target/repository"
    shown = {path.name: str(path) for path in jar_paths()} | {
        "spark-submit": shlex.join(submit),
        "file://$PWD/target/repository": repository.as_uri(),
    }
    for block in PAGE.blocks("sh"):
        folder = tmp_path / ("packages" if "--packages" in block else "jars")
        job = shlex.join([program("drain_orders"), options, str(folder)])
        output = PAGE.shell(block, shown | {"job.py": job}, tmp_path, environment())
        assert_each_once(ids(written(spark, folder)), ORDERS)
        assert f"batch rows: {len(ORDERS)}" in output
        assert "live" in output
    PAGE.assert_all_executed()


def test_neither(submit: list[str]) -> None:
    output = run(submit, "configure_only")
    assert "rejected: [SPLICE_SETUP.JAR_NOT_LOADED]" in output
    assert "Splice's jar is not on the class path of the JVM that spark-submit" in output
    assert "--jars " in output
    assert "--packages io.github.splice:splice-spark_2.13:" in output
