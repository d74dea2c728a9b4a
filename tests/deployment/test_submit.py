# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that spark-submit starts."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deployment import page
from kill.cluster import two_hosts
from orders import archive, assert_each_once, history, history_then_live, ids, live, orders
from programs.launch import run, spark_submit
from servers.jars import ROOT
from servers.kafka.jars import class_path
from servers.kafka.topics import KafkaTopics
from splice._internal.jars import jar_paths
from streams import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conftest import MakeTopic

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


def test_packages_from_a_repository(
    spark: SparkSession, submit: list[str], options: str, tmp_path: Path
) -> None:
    repository = Path(
        os.environ.get("SPLICE_REPOSITORY") or ROOT / "target" / "repository"
    ).resolve()
    assert list(repository.rglob(f"*-{page.VERSION}.pom")), (
        "make jar publishes to target/repository"
    )
    command, _ = page.arguments(
        "spark-submit", {"file:///opt/splice/repository": repository.as_uri()}
    )
    output = run([*submit, *command], "drain_orders", options, str(tmp_path))
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    assert f"batch rows: {len(ORDERS)}" in output


def test_jars(spark: SparkSession, submit: list[str], options: str, tmp_path: Path) -> None:
    _, command = page.arguments("spark-submit")
    output = run([*submit, *command], "drain_orders", options, str(tmp_path))
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    assert "live" in output


def test_a_standalone_cluster_with_two_kafka_clients(
    spark: SparkSession,
    submit: list[str],
    topics: KafkaTopics,
    make_topic: MakeTopic,
    tmp_path: Path,
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    program = tmp_path / "job.py"
    program.write_text(
        page.program(
            {
                "broker:9092": topics.bootstrap_servers,
                '"subscribe", "orders"': f'"subscribe", "{topic}"',
                "/lake/orders": str(tmp_path / "out"),
                "/checkpoints/orders": str(tmp_path / "checkpoint"),
            }
        )
    )
    (other,) = Path(class_path()).parent.glob("kafka-clients-*.jar")
    mine = jar_paths()[1]
    assert other.name != mine.name
    cluster = tmp_path / "cluster"
    with two_hosts(cluster) as master:
        (command,) = page.arguments("Standalone cluster", {"spark://master:7077": master})
        at = command.index("--jars") + 1
        command[at] = f"{command[at]},{other}"
        output = run([*submit, *command], str(program.with_suffix("")))
        logs = [log.read_text() for log in cluster.glob("app-*/*/stderr")]
    rows = written(spark, tmp_path).selectExpr("CAST(key AS STRING) AS order_id")
    assert_each_once(ids(rows), ORDERS)
    assert "The class path has several versions of the Kafka client: " in output
    used = [set(re.findall(r"Kafka version: (\S+)", log)) for log in (output, *logs)]
    versions = [one.stem.removeprefix("kafka-clients-") for one in (mine, other)]
    assert used[0] == {versions[0]}
    # Spark does not keep the order of the list on executors, but an executor uses one version.
    assert any(used[1:])
    assert all(len(found) <= 1 and found <= set(versions) for found in used[1:])


def test_a_local_program(spark: SparkSession) -> None:
    names = page.local_program()
    assert names["spark"].sparkContext.applicationId == spark.sparkContext.applicationId


def test_neither(submit: list[str]) -> None:
    output = run([*submit, "--master", "local[2]"], "configure_only")
    assert "rejected: [SPLICE_SETUP.JAR_NOT_LOADED]" in output
    assert "Splice's jar is not on the class path of the JVM that spark-submit" in output
    assert "--jars " in output
    assert "--packages io.github.splice:splice-spark_2.13:" in output
