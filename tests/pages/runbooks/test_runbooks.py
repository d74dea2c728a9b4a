# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the runbooks for many clusters, while a producer writes orders."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from orders import assert_each_once
from pages.page import Page
from pages.runbooks.runbook import Runbook
from pages.runbooks.sites import Scene, Sites
from servers.class_data import java
from servers.kafka import spark_jars
from servers.kafka.jars import class_path

FOLDER = "docs/how-to/clusters"


@pytest.fixture
def scene(spark: SparkSession, sites: Sites, tmp_path: Path) -> Iterator[Scene]:
    """Producer and folders of one runbook, on running clusters without topics."""
    sites.start()
    sites.clean()
    with Scene(sites, tmp_path) as scene:
        yield scene
    for query in spark.streams.active:
        query.stop()


def test_bulk_move(scene: Scene) -> None:
    east = [("east", topic) for topic in ("orders", "orders-old", "payments", "returns")]
    west = [("west", topic) for topic in ("orders", "payments", "returns")]
    scene.create(*east)
    scene.aim(*east)
    actions = {
        1: lambda: scene.create(*west),
        3: scene.aims(*west),
        7: scene.aims(*east),
    }
    Runbook(f"{FOLDER}/bulk-move.md", scene.shown).execute(actions)
    scene.finish("orders", "payments", "returns")
    Page(f"{FOLDER}/bulk-move.md").assert_all_executed()


def test_wrong_document(scene: Scene) -> None:
    places = [("east", "orders"), ("west", "orders"), ("east", "payments"), ("east", "returns")]
    scene.create(*places)
    scene.aim(*places)
    Runbook(f"{FOLDER}/wrong-document.md", scene.shown).execute({})
    scene.finish("orders", "payments", "returns")
    Page(f"{FOLDER}/wrong-document.md").assert_all_executed()


def test_decommission(scene: Scene) -> None:
    east = [("east", "orders"), ("east", "payments")]
    west = [("west", "orders"), ("west", "payments")]
    scene.create(*east, *west)
    scene.aim(*east, *west)
    actions = {2: scene.aims(*west), 6: scene.sites.east.kill}
    Runbook(f"{FOLDER}/decommission.md", scene.shown).execute(actions)
    scene.finish("orders", "payments")
    Page(f"{FOLDER}/decommission.md").assert_all_executed()


def test_rotate_credentials(scene: Scene) -> None:
    scene.create(("east", "orders"))
    scene.aim(("east", "orders"))
    shown = {
        **scene.shown,
        "east-1:9092": scene.sites.east.login_servers,
        "east-admin:9093": scene.sites.east.bootstrap_servers,
        "SASL_SSL": "SASL_PLAINTEXT",
    }
    quick = "-Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    configs = f"{java()} {quick} -cp '{class_path()}' kafka.admin.ConfigCommand"
    Runbook(f"{FOLDER}/rotate-credentials.md", shown).execute({}, {"kafka-configs.sh": configs})
    scene.finish("orders")
    Page(f"{FOLDER}/rotate-credentials.md").assert_all_executed()


@pytest.mark.skipif(not spark_jars.FIT, reason=spark_jars.WHY)
def test_fail_over(scene: Scene) -> None:
    old, paid = ("east", "orders"), ("east", "payments")
    scene.create(old, ("west", "orders"), paid, ("east", "returns"), ("west", "returns"))
    scene.create(("west", "payments"), partitions=1)
    checkpoint = scene.path("/checkpoints/orders")

    def last_rows() -> None:
        # If the query reads these rows, the last row of each partition of payments has the time of
        # a row that the mirror has. The runbook therefore repeats a row.
        now = int(time.time() * 1000)
        scene.lags = set()
        for place, partition in ((old, 0), (paid, None), (("east", "returns"), None)):
            scene.produce(place, 6, partition, now)
        scene.lags = {old, paid}
        for place in (old, paid):
            scene.produce(place, 6, now=now)

    def fail() -> None:
        # The mirrors do not have the first records, so the same records have other offsets.
        scene.produce(old, 10)
        scene.produce(paid, 10)
        scene.mirrors = {old: ("west", "orders"), paid: ("west", "payments")}
        scene.produce(old, 10)
        scene.produce(paid, 10)
        # The query reads records of one partition that the mirror has not copied.
        scene.lags = {old}
        scene.produce(old, 10, partition=1)
        scene.lags = set()
        for stream in ("orders", "payments"):
            scene.until_read(stream)
        scene.sites.fail_within_a_batch(checkpoint, last_rows)

    def mirror_back() -> None:
        scene.create(("east", "orders-2"), ("east", "payments-2"))
        scene.mirrors = {
            ("west", topic): ("east", f"{topic}-2") for topic in ("orders", "payments")
        }

    west = [("west", topic) for topic in ("orders", "payments", "returns")]
    east = [("east", topic) for topic in ("orders-2", "payments-2", "returns")]
    actions = {
        1: fail,
        4: scene.aims(*west),
        7: scene.sites.start,
        9: mirror_back,
        11: scene.aims(*east),
    }
    names = Runbook(f"{FOLDER}/fail-over.md", scene.shown).execute(actions)
    assert names["planned"] > names["finished"]
    scene.finish("orders", "returns")
    Page(f"{FOLDER}/fail-over.md").assert_all_executed()
    scene.until_read("payments")
    repeated = scene.repeated("payments")
    assert repeated
    assert all(scene.times[one] >= names["since"] for one in repeated)
    assert_each_once(
        {row["key"].decode() for row in scene.rows("payments")}, scene.produced["payments"]
    )
