# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that spark-submit starts."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from deployment import page
from kill.cluster import two_hosts
from orders import archive, assert_each_once, history, history_then_live, ids, live, orders
from pages.page import Page
from programs.launch import run, spark_submit
from servers.jars import ROOT
from servers.kafka.jars import class_path
from servers.kafka.topics import KafkaTopics
from splice._internal.jars import jar_paths
from streams import written

PAGE = Page("docs/getting-started.md", by="tests/deployment/test_submit.py")
DEPLOY = Page("docs/how-to/deploy.md")
ORDERS = range(60)


@pytest.fixture
def options(topics: KafkaTopics, make_topic: MakeTopic, history_path: Path) -> str:
    """Return the options of an archive and its topic, as JSON."""
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(topics, topic, history_path, {0: 10, 1: 5})
    return json.dumps(history_then_live(history(history_path), live(topics, topic)).options())


@pytest.fixture
def submit(tmp_path: Path) -> list[str]:
    """Return the command of spark-submit with separate folders."""
    command = [spark_submit(), "--driver-memory", "1g"]
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.jars.ivy": f"{tmp_path}/ivy",
        "spark.sql.warehouse.dir": f"{tmp_path}/warehouse",
    }.items():
        command += ["--conf", f"{name}={value}"]
    return command


def test_the_commands_of_both_pages(
    spark: SparkSession,
    submit: list[str],
    options: str,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
) -> None:
    names = page.local_program(DEPLOY)
    assert names["spark"].sparkContext.applicationId == spark.sparkContext.applicationId
    repository = repository_of_the_build().as_uri()
    places = {"file:///opt/splice/repository": repository}
    commands = page.arguments(DEPLOY, "spark-submit", places)
    for number, command in enumerate(commands):
        folder = tmp_path / str(number)
        output = run([*submit, *command], "drain_orders", options, str(folder))
        assert_each_once(ids(written(spark, folder)), ORDERS)
        assert f"batch rows: {len(ORDERS)}" in output
    shown = {path.name: str(path) for path in jar_paths()}
    shown |= {"file://$PWD/target/repository": repository}
    to_get_started = [shlex.split(PAGE.replaced(block, shown)) for block in PAGE.blocks("sh")]
    # These commands have no master, and are otherwise the commands that ran.
    assert to_get_started == [["spark-submit", *one[2:], "job.py"] for one in commands]
    PAGE.assert_all_executed()
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    run_on_a_cluster(submit, topics.bootstrap_servers, topic, tmp_path)
    rows = written(spark, tmp_path).selectExpr("CAST(key AS STRING) AS order_id")
    assert_each_once(ids(rows), ORDERS)
    DEPLOY.assert_all_executed()


def repository_of_the_build() -> Path:
    """Return the Maven repository that ``make jar`` writes."""
    given = os.environ.get("SPLICE_REPOSITORY") or ROOT / "target" / "repository"
    repository = Path(given).resolve()
    assert list(repository.rglob(f"*-{page.VERSION}.pom")), (
        "make jar publishes to target/repository"
    )
    return repository


def run_on_a_cluster(submit: list[str], servers: str, topic: str, folder: Path) -> None:
    """Run the program of the page on two workers, with two versions of the Kafka client."""
    program = folder / "job.py"
    shown = {
        "broker:9092": servers,
        '"subscribe", "orders"': f'"subscribe", "{topic}"',
        "/lake/orders": str(folder / "out"),
        "/checkpoints/orders": str(folder / "checkpoint"),
    }
    program.write_text(page.program(DEPLOY, shown))
    (other,) = Path(class_path()).parent.glob("kafka-clients-*.jar")
    mine = jar_paths()[1]
    assert other.name != mine.name
    cluster = folder / "cluster"
    with two_hosts(cluster) as master:
        places = {"spark://master:7077": master}
        (command,) = page.arguments(DEPLOY, "Standalone cluster", places)
        at = command.index("--jars") + 1
        command[at] = f"{command[at]},{other}"
        output = run([*submit, *command], str(program.with_suffix("")))
        logs = [log.read_text() for log in cluster.glob("app-*/*/stderr")]
    assert "The class path has several versions of the Kafka client: " in output
    used = [set(re.findall(r"Kafka version: (\S+)", log)) for log in (output, *logs)]
    versions = [one.stem.removeprefix("kafka-clients-") for one in (mine, other)]
    assert used[0] == {versions[0]}
    # Spark does not keep the order of the list on executors, but an executor uses one version.
    assert any(used[1:])
    assert all(len(found) <= 1 and found <= set(versions) for found in used[1:])


def test_neither(submit: list[str]) -> None:
    output = run([*submit, "--master", "local[2]"], "configure_only")
    assert "rejected: [SPLICE_SETUP.JAR_NOT_LOADED]" in output
    assert "Splice's jar is not on the class path of the JVM that spark-submit" in output
    assert "--jars " in output
    assert "--packages io.github.splice:splice-spark_2.13:" in output
