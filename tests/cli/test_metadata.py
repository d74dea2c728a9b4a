# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of metadata documents, and their comparison with the checkpoint of a query."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from cli.conftest import Splice
from conftest import MakeTopic
from orders import orders
from pages.page import Page
from servers.kafka.cluster import KafkaCluster
from servers.logins.guarded_kafka import GuardedKafka
from servers.ports import free_ports
from splice import DynamicKafkaSource, FileSource, HybridSource
from streams import drain

PAGE = Page("docs/dynamic-kafka.md", by="tests/cli/test_metadata.py")


def write(
    file: Path,
    generation: int,
    clusters: Mapping[str, Any],
    topics: Mapping[str, Sequence[str]],
    **sections: Any,
) -> Path:
    """Write a document with one stream, whose topics are given by cluster."""
    entries = {
        name: entry if isinstance(entry, dict) else {"bootstrapServers": entry}
        for name, entry in clusters.items()
    }
    document = {
        "version": 1,
        "generation": generation,
        "clusters": entries,
        "streams": {"orders": topics},
        **sections,
    }
    file.write_text(json.dumps(document, indent=1))
    return file


def test_check_reports_the_line_of_an_invalid_document(splice: Splice, tmp_path: Path) -> None:
    file = tmp_path / "streams.yaml"
    file.write_text(
        "version: 1\nclusters:\n  east:\n    bootstrapServers: 'east:9092'\n    properties:\n"
        "      ssl.engine.factory.class: com.example.Any\nstreams:\n  orders: {east: [orders]}\n"
    )
    done = splice("metadata", "check", file)
    assert done.code == 1
    assert f"{file}, line 6" in done.out
    assert "metadata may not set this property" in done.out

    options = tmp_path / "query.options"
    options.write_text("# The author of the metadata has the rights of the job.\n")
    options.write_text(options.read_text() + "metadataProperties = any\nstreams = orders,returns\n")
    done = splice("metadata", "check", file, "--options", options)
    assert done.code == 1
    assert "generation none, 1 clusters, 1 streams, 1 topics" in done.out
    assert len(done.lines("problem:")) == 1
    assert "returns" in done.lines("problem:")[0]

    assert splice("metadata", "check", tmp_path / "missing.yaml").code == 2


def test_check_finds_dead_clusters_missing_topics_and_missing_permissions(
    splice: Splice, guarded: GuardedKafka, tmp_path: Path
) -> None:
    dead = f"127.0.0.1:{free_ports(1)[0]}"
    login = {"bootstrapServers": guarded.login_servers, "credentials": "reader"}
    wrong = login | {"credentials": "wrong"}
    clusters = {
        "dead": dead,
        "plain": guarded.bootstrap_servers,
        "login": login,
        "wrong": wrong,
        "idle": {"bootstrapServers": dead, "active": False},
    }
    topics = {
        "dead": ["a"],
        "plain": ["open", "missing"],
        "login": ["closed", "hidden"],
        "wrong": ["a"],
        "idle": ["a"],
    }
    file = write(tmp_path / "streams.json", 3, clusters, topics)
    options = tmp_path / "query.options"
    logins = {"reader": guarded.login(), "wrong": guarded.login("wrong-password")}
    options.write_text(
        "".join(
            f"credentials.{name}.kafka.{key}={value}\n"
            for name, login in logins.items()
            for key, value in login.items()
        )
    )
    arguments = ("metadata", "check", file, "--options", options)
    assert splice(*arguments).code == 0
    done = splice(*arguments, "--reach", "--timeout", 10)
    assert done.code == 1
    assert "BROKERS_UNAVAILABLE" in done.lines("cluster dead:")[0]
    assert "AUTHENTICATION_FAILED" in done.lines("cluster wrong:")[0]
    assert done.lines("cluster idle:") == ["cluster idle: inactive, not checked"]
    assert done.lines("missing topic:") == ["  missing topic: missing"]
    assert done.lines("missing permission:") == [
        "  missing permission: READ on closed",
        "  missing permission: DESCRIBE on hidden",
    ]
    assert guarded.password not in done.out + done.err
    assert "wrong-password" not in done.out + done.err


def test_diff_and_drained_follow_a_query_that_moves_to_another_topic(
    spark: SparkSession,
    splice: Splice,
    kafka: KafkaCluster,
    make_topic: MakeTopic,
    tmp_path: Path,
) -> None:
    old, new = make_topic(2), make_topic(2)
    kafka.topics.produce(old, orders(range(20), 2))
    servers = kafka.bootstrap_servers
    current = tmp_path / "streams.json"
    write(current, 5, {"east": servers}, {"east": [old]})
    source = (
        DynamicKafkaSource.builder().metadata_file(str(current)).streams("orders")
    ).starting_offsets("earliest")

    def run() -> None:
        drain(source.build().read_stream(spark), tmp_path)

    run()
    kafka.topics.produce(old, orders(range(20, 25), 2))
    checkpoint = tmp_path / "checkpoint"
    before = {file: file.read_bytes() for file in checkpoint.rglob("*") if file.is_file()}
    options = tmp_path / "query.options"
    options.write_text(f"metadata.file={current}\nstreams=orders\nstartingOffsets=earliest\n")

    def diff(file: Path, *more: object) -> Any:
        return splice("metadata", "diff", checkpoint, file, "--options", options, *more)

    assert diff(current).lines("no change") == ["no change"]
    both = {"east": servers, "west": servers}
    moved = write(tmp_path / "moved.json", 6, both, {"west": [new]})
    found = diff(moved)
    assert found.code == 0, found
    assert found.lines("added topics") == [f"added topics: west/{new}"]
    assert found.lines("removed topics") == [f"removed topics: east/{old}"]
    assert found.lines("drained:") == [f"drained: east/{old}, 5 unread rows"]

    dead = both | {"east": f"127.0.0.1:{free_ports(1)[0]}"}
    found = diff(write(tmp_path / "dead.json", 6, dead, {"west": [new]}), "--timeout", 1)
    assert "unread rows unknown" in found.lines("drained:")[0]

    found = diff(write(tmp_path / "older.json", 4, both, {"west": [new]}))
    assert (found.code, len(found.lines("STALE_GENERATION"))) == (1, 1)

    past = {"orders": {"timestamp": "2001-01-01T00:00:00Z"}}
    found = diff(write(tmp_path / "past.json", 6, both, {"west": [new]}, cutovers=past))
    assert found.code == 1
    assert "was read past 2001-01-01T00:00:00Z already" in found.lines("rejected:")[0]

    found = diff(write(tmp_path / "missing.json", 6, both, {"west": [new, "no-such-topic"]}))
    assert (found.code, found.lines("missing topic")) == (1, ["  missing topic: no-such-topic"])

    needed = splice("metadata", "drained", checkpoint, "east", "--options", options)
    assert needed.code == 1
    assert needed.lines(old) == [f"  {old}: reading, 5 unread rows"]
    unknown = splice("metadata", "drained", checkpoint, "north")
    assert unknown.code == 2
    assert "Clusters: east" in unknown.err
    assert before == {f: f.read_bytes() for f in checkpoint.rglob("*") if f.is_file()}

    (block,) = PAGE.blocks("sh")
    shown = {
        "/config/streams-next.yaml": str(moved),
        "/config/query.options": str(options),
        "/checkpoints/orders": str(checkpoint),
    }
    lines = PAGE.replaced(block, shown).split("\n")
    assert [splice(*shlex.split(line)[1:]).code for line in lines if line] == [0, 0, 1]
    PAGE.assert_all_executed()

    moved.replace(current)
    run()
    left = splice("metadata", "drained", checkpoint, "east", "--options", options)
    assert left.code == 0, left
    assert "yes: the query no longer needs the cluster 'east'" in left.out
    assert splice("metadata", "drained", checkpoint, "west", "--options", options).code == 1


def test_a_leg_of_a_hybrid_is_compared_with_its_options(
    spark: SparkSession,
    splice: Splice,
    kafka: KafkaCluster,
    make_topic: MakeTopic,
    tmp_path: Path,
) -> None:
    topic = make_topic(1)
    kafka.topics.produce(topic, orders(range(4), 1))
    spark.range(3).selectExpr("id").write.parquet(str(tmp_path / "history"))
    servers = kafka.bootstrap_servers
    current = write(tmp_path / "streams.json", 1, {"east": servers}, {"east": [topic]})
    live = DynamicKafkaSource.builder().metadata_file(str(current)).streams("orders")
    source = (
        HybridSource.builder("history", FileSource.builder("parquet", tmp_path / "history").build())
        .add_source("live", live.starting_offsets("earliest").build(), select="offset AS id")
        .build()
    )
    drain(source.read_stream(spark), tmp_path)
    kafka.topics.produce(topic, orders(range(4, 6), 1))
    options = tmp_path / "query.options"
    options.write_text("".join(f"{name}={value}\n" for name, value in source.options().items()))
    more = ("--options", options, "--leg", "live")
    done = splice("metadata", "drained", tmp_path / "checkpoint", "east", *more)
    assert (done.code, done.lines("source"), done.err) == (1, ["source 0/leg-live"], "")
    assert done.lines(topic) == [f"  {topic}: reading, 2 unread rows"]
    moved = write(tmp_path / "moved.json", 2, {"east": servers}, {"east": [make_topic(1)]})
    found = splice("metadata", "diff", tmp_path / "checkpoint", moved, *more)
    assert found.code == 0, found
    assert found.lines("drained:") == [f"drained: east/{topic}, 2 unread rows"]
