# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the programs of the page about many clusters, with other addresses and paths."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from orders import order_id, orders
from pages.page import Page
from pages.runbooks.sites import Sites

PAGE = Page("docs/dynamic-kafka.md")
FOLDERS = ("/config", "/lake", "/checkpoints", "/run/secrets")
EAST, WEST = range(20), range(15, 30)


class Places:
    """Two clusters with topics, and the folders of the programs."""

    def __init__(self, folder: Path, sites: Sites) -> None:
        """Create the folders, and fill the topics."""
        self._folder = folder
        sites.start()
        sites.clean()
        east, west = sites.east, sites.west
        self._servers = {"east": east.bootstrap_servers, "west": west.bootstrap_servers}
        for name in FOLDERS:
            self.path(name).mkdir(parents=True)
        for topic, cluster, numbers in (
            ("orders", east, EAST),
            ("orders", west, WEST),
            ("returns", east, EAST),
        ):
            cluster.topics.create(topic, 2)
            cluster.topics.produce(topic, orders(numbers, 2))

    def path(self, shown: str) -> Path:
        """Return the path that replaces a path of a program."""
        return self._folder / shown.lstrip("/")

    def publish(self, name: str, *clusters: str, **entry: str) -> None:
        """Write a document that has the stream ``orders`` on some clusters."""
        document = {
            "version": 1,
            "generation": len(list(self.path("/config").iterdir())) + 1,
            "clusters": {
                cluster: {"bootstrapServers": servers, **entry}
                for cluster, servers in self._servers.items()
            },
            "streams": {
                "orders": {cluster: ["orders"] for cluster in clusters},
                "returns": {"east": ["returns"]},
            },
        }
        self.path(f"/config/{name}.yaml").write_text(json.dumps(document))

    @property
    def shown(self) -> dict[str, str]:
        """Return the folders and servers of the page, with those of the test."""
        folders = {f'"{shown}': f'"{self.path(shown)}' for shown in FOLDERS}
        return {**folders, "east-1:9092": self._servers["east"]}


def rows_of(spark: SparkSession, places: Places, name: str) -> list[tuple[str, str, str]]:
    """Return stream, cluster and id of each row that a program wrote, sorted."""
    rows = spark.read.parquet(str(places.path(f"/lake/{name}"))).collect()
    return sorted((row["_stream"], row["_cluster"], row["key"].decode()) for row in rows)


def wanted(**numbers: range) -> list[tuple[str, str, str]]:
    """Return the expected rows of the stream ``orders`` by cluster, sorted."""
    return sorted(
        ("orders", cluster, order_id(n)) for cluster, some in numbers.items() for n in some
    )


def test_each_program(
    spark: SparkSession, sites: Sites, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = Places(tmp_path, sites)
    places.publish("streams", "east")
    places.publish("streams-on-both", "east", "west")
    sites.east.topics.set_scram_password("reader", "hunter22")
    places.path("/run/secrets/east").write_text("password=hunter22")
    places.publish(
        "secured", "east", bootstrapServers=sites.east.login_servers, credentials="reader"
    )

    def run(code: str) -> dict[str, Any]:
        folder = places.path("/run/secrets")
        login = {"SASL_SSL": "SASL_PLAINTEXT", "file:/run/secrets": f"file:{folder}"}
        return PAGE.run(code, places.shown | login, {})

    first, both, secured, changes, compare = PAGE.blocks("python")
    run(first)
    assert rows_of(spark, places, "orders") == wanted(east=EAST)
    run(both)
    assert rows_of(spark, places, "both") == wanted(east=EAST)
    run(secured)
    assert rows_of(spark, places, "secured") == wanted(east=EAST)
    capsys.readouterr()
    run(changes)
    assert re.search(r"streamApplied *\|\[orders\]", capsys.readouterr().out)
    found = [row["key"].decode() for row in run(compare)["differences"].collect()]
    assert sorted(found) == [order_id(n) for n in (*range(15), *range(20, 30))]
    PAGE.assert_all_executed()
