# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Spark Connect, with the jar only on the server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from deployment import page
from orders import archive, assert_each_once, history, history_then_live, ids, live, orders
from pages.page import Page
from programs.launch import PATIENCE, environment, run, spark_submit
from servers.kafka.topics import KafkaTopics
from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for
from streams import written

PAGE = Page("docs/getting-started.md", by="tests/deployment/test_connect.py")
DEPLOY = Page("docs/how-to/deploy.md", by="tests/deployment/test_connect.py")
ORDERS = range(60)
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Spark Connect server with Splice's jars, and return its address."""
    port = free_ports(1)[0]
    folder = tmp_path_factory.mktemp("server")
    temporary = folder / "tmp"
    temporary.mkdir()
    conf = {
        # The server is killed at the end, so its files are in a temporary folder.
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={temporary} -XX:-UsePerfData",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
    }
    # PySpark lacks start-connect-server.sh, which passes its arguments to spark-submit.
    (arguments,) = page.arguments(DEPLOY, "Spark Connect")
    command = [spark_submit(), "--class", _SERVER, "--driver-memory", "1g", *arguments]
    for name, value in conf.items():
        command += ["--conf", f"{name}={value}"]
    process = ServerProcess([*command, "spark-internal"], folder / "server.log")

    def ready() -> bool:
        if process.exit_code is not None:
            raise RuntimeError(f"the server ended:\n{process.tail()}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_for("the Spark Connect server", ready)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.kill()


def test_the_source_is_the_servers(
    spark: SparkSession,
    topics: KafkaTopics,
    make_topic: MakeTopic,
    history_path: Path,
    tmp_path: Path,
    server: str,
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    archive(topics, topic, history_path, {0: 10, 1: 5})
    options = history_then_live(history(history_path), live(topics, topic)).options()
    output = run([sys.executable], "drain_orders", json.dumps(options), str(tmp_path), server)
    assert_each_once(ids(written(spark, tmp_path)), ORDERS)
    assert f"batch rows: {len(ORDERS)}" in output
    assert "rows behind" in output
    assert "plan: [SPLICE_SETUP.PLAN_NOT_SUPPORTED]" in output
    assert "live" in output
    assert "live: 100 %, 0 unread rows" in output
    assert "The query has ended." in output

    (program,) = PAGE.blocks("python")
    shown = {
        "sc://server:15002": server,
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
    }
    script = tmp_path / "page.py"
    script.write_text(PAGE.replaced(program, shown) + "assert df.isStreaming\n")
    subprocess.run([sys.executable, str(script)], check=True, timeout=PATIENCE, env=environment())
    PAGE.assert_all_executed()
    DEPLOY.assert_all_executed()


@pytest.mark.skipif(
    pyspark.__version__.startswith("4.1."), reason="PySpark 4.1 has no real-time mode in clients"
)
def test_queries_in_real_time_mode_and_in_continuous_mode(
    topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path, server: str
) -> None:
    topic = make_topic()
    topics.produce(topic, orders(ORDERS, 3))
    options = live(topics, topic, startingOffsets="earliest").options()
    arguments = [json.dumps(options), str(len(ORDERS)), str(tmp_path), server]
    output = run([sys.executable], "connect_modes", *arguments)
    assert_each_once((tmp_path / "real-time" / "seen").read_text().splitlines(), ORDERS)
    assert "real-time:" in output
    assert "continuous:" in output


def test_configure_names_the_option_for_the_jar() -> None:
    output = run([sys.executable], "configure_only", env={"SPARK_REMOTE": "sc://127.0.0.1:1"})
    assert "rejected: [SPLICE_SETUP.CONNECT_NOT_SUPPORTED]" in output
    assert "a session of a Spark Connect server" in output
    assert "--packages" in output
