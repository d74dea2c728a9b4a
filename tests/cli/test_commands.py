# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands demo, plan and doctor, with real files and real brokers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli.conftest import Splice
from conftest import MakeTopic
from servers.kafka.cluster import KafkaCluster
from servers.logins.guarded_kafka import GuardedKafka
from servers.ports import free_ports


def test_demo_reads_each_row_once_without_a_broker(splice: Splice, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    done = splice("demo", "--keep", folder)
    assert done.code == 0, done
    assert "The query was stopped after 500 rows" in done.out
    assert done.lines("  archive: ") == ["  archive: 1000"]
    assert done.lines("  recent: ") == ["  recent: 200"]
    assert "1200 rows, 0 missing, 0 duplicated" in done.out
    assert {path.name for path in folder.iterdir()} == {"2025", "2026", "out", "checkpoint"}


def test_demo_continues_in_a_topic_that_it_deletes(splice: Splice, kafka: KafkaCluster) -> None:
    done = splice("demo", "--servers", kafka.bootstrap_servers)
    assert done.code == 0, done
    assert done.lines("  live: ") == ["  live: 200"]
    assert any("; decided at" in line for line in done.lines("live: ")), done.out
    assert "1200 rows, 0 missing, 0 duplicated" in done.out
    assert not [name for name in kafka.topics.names() if name.startswith("splice-demo-")]


def test_demo_of_late_rows_loses_none_by_event_time(splice: Splice, kafka: KafkaCluster) -> None:
    done = splice("demo", "late", "--servers", kafka.bootstrap_servers)
    assert done.code == 0, done
    (by_lag,) = done.lines("admission=lag")
    assert not by_lag.startswith("admission=lag: 2000 rows counted")
    (by_time,) = done.lines("admission=eventTime")
    assert by_time.startswith("admission=eventTime: 2000 rows counted, 0 rows lost as late, ")
    assert not [name for name in kafka.topics.names() if name.startswith("splice-demo-")]


def test_plan_reports_the_line_of_a_wrong_option(
    splice: Splice, make_topic: MakeTopic, kafka: KafkaCluster, tmp_path: Path
) -> None:
    file = tmp_path / "orders.options"
    lines = [
        "# A topic from its first record.",
        "source=kafka",
        f"kafka.bootstrap.servers = {kafka.bootstrap_servers}",
        f"subscribe={make_topic(2)}",
        "",
        "startingOffsets=earliest",
    ]
    file.write_text("\n".join(lines))
    done = splice("plan", file)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("kafka, ")
    assert json.loads(splice("plan", file, "--format", "json").out)["source"] == "kafka"
    file.write_text("\n".join([*lines, "startingofsets=latest"]))
    done = splice("plan", file)
    assert done.code == 1
    assert done.err.startswith(f"{file}:7: [SPLICE_OPTION.")
    file.write_text("\n".join([*lines, "subscribe=other"]))
    assert splice("plan", file).err == (
        f"{file}:7: the option 'subscribe' is already set in line 4.\n"
    )
    file.write_text("source\n")
    assert splice("plan", file).code == 2


def test_doctor_checks_brokers_permissions_and_a_checkpoint(
    splice: Splice, guarded: GuardedKafka, tmp_path: Path
) -> None:
    login = [argument for p in guarded.login().items() for argument in ("--kafka", "=".join(p))]
    folder = tmp_path / "new" / "checkpoint"
    servers = ("doctor", "--servers", guarded.login_servers, *login)
    done = splice(*servers, "--topic", "open", "--checkpoint", folder)
    assert done.lines(guarded.login_servers) == [
        f"ok       bootstrap server {guarded.login_servers} accepts connections",
        f"ok       advertised address {guarded.login_servers} accepts connections",
    ]
    assert done.lines("topic open")[0].startswith("ok ")
    assert done.lines("checkpoint")[0].startswith("ok ")
    assert not folder.parent.exists()
    closed = splice(*servers, "--topic", "closed")
    assert closed.code == 1
    assert "lacks the permission READ" in closed.lines("topic closed")[0]
    wrong = guarded.login("wrong-password")
    wrong_login = [argument for p in wrong.items() for argument in ("--kafka", "=".join(p))]
    denied = splice("doctor", "--servers", guarded.login_servers, *wrong_login)
    assert denied.code == 1
    assert "AUTHENTICATION_FAILED" in denied.lines("failed   login")[0]
    assert "wrong-password" not in denied.out


def test_doctor_rejects_a_storage_that_the_first_start_rejects(
    splice: Splice, spark: SparkSession, tmp_path: Path
) -> None:
    # A mount table is a file system of Hadoop that Splice does not know.
    mounted = "fs.viewfs.mounttable.default.link./mounted"
    spark.conf.set(mounted, tmp_path.as_uri())
    try:
        done = splice("doctor", "--checkpoint", "viewfs:///mounted/checkpoint")
    finally:
        spark.conf.unset(mounted)
    assert done.code == 1, done
    (line,) = done.lines("checkpoint viewfs")
    assert line.startswith(
        "failed   checkpoint viewfs:///mounted/checkpoint: [SPLICE_CHECKPOINT.STORE_NOT_ATOMIC]"
    )
    assert "has no conditional writes" in line
    assert "'checkpointStore'" in done.lines("next step: ")[-1]
    assert list(tmp_path.iterdir()) == []


def test_doctor_creates_no_file_that_a_failure_leaves(splice: Splice, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    done = splice("doctor", "--checkpoint", file / "checkpoint")
    assert (done.code, len(done.lines("failed   checkpoint"))) == (1, 1), done
    done = splice("doctor", "--checkpoint", tmp_path)
    assert done.lines("checkpoint") == [
        f"ok       checkpoint {tmp_path}: a file can be created atomically, listed and deleted"
    ]
    assert list(tmp_path.iterdir()) == [file]


def test_doctor_finds_dead_addresses(splice: Splice, guarded: GuardedKafka) -> None:
    client = ("--kafka", "default.api.timeout.ms=10000")
    done = splice("doctor", "--servers", guarded.away_servers, *client)
    assert done.code == 1
    assert done.lines("bootstrap server")[0].startswith("ok ")
    assert done.lines("advertised address")[0].startswith(
        f"failed   advertised address {guarded.dead}: "
    )
    dead = f"127.0.0.1:{free_ports(1)[0]}"
    done = splice("doctor", "--servers", dead, *client)
    assert done.code == 1
    assert done.lines("bootstrap server")[0].startswith(f"failed   bootstrap server {dead}: ")


def test_doctor_explains_a_missing_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "splice", "doctor"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done
    assert f"failed   Java: no program 'java' in {tmp_path}/bin/java" in done.stdout
    assert "next step: Install JDK 17 or 21" in done.stdout
    assert "the checks that need a JVM were skipped" in done.stdout
