# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of ``splice doctor``, without Spark and without a broker."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException

from splice.cli import PROBLEM, USAGE, doctor, environment, reachability
from splice.cli.findings import ok
from splice.cli.main import main


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctor without the checks of the machine and without a session."""
    monkeypatch.setattr(environment, "findings", lambda: [])
    monkeypatch.setattr(reachability, "bootstrap", lambda _: [])
    monkeypatch.setattr(doctor, "local_session", lambda _: nullcontext())
    monkeypatch.setattr(doctor, "_session", lambda _: [])
    monkeypatch.setattr(doctor, "_checkpoint", lambda _, path: [ok(f"checkpoint {path}")])


def test_an_invalid_property_does_not_skip_the_checkpoint(
    bare: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cluster(options: Mapping[str, str], topic: str) -> dict[str, Any]:
        raise IllegalArgumentException("the property is invalid")

    monkeypatch.setattr("splice._internal.jvm_metadata.cluster", cluster)
    given = ["doctor", "--servers", "broker:9092", "--kafka", "a=b", "--checkpoint", "/c"]
    assert main(given) == PROBLEM
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("failed   client properties: the property is invalid")
    assert lines[1].endswith("next step: Correct --servers, --kafka or --kafka-file.")
    assert lines[2] == "ok       checkpoint /c"


@pytest.mark.parametrize(
    "option", [("--topic", "orders"), ("--kafka", "a=b"), ("--kafka-file", "client.properties")]
)
def test_options_of_a_cluster_need_servers(
    option: tuple[str, str], bare: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *option]) == USAGE
    assert capsys.readouterr().err == f"{option[0]} needs --servers.\n"


def test_a_setting_without_a_value_is_a_wrong_usage(
    bare: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--conf", "spark.x"]) == USAGE
    assert capsys.readouterr().err == "--conf: an argument is not NAME=VALUE.\n"


@pytest.mark.parametrize(
    "address", ["a..b:9092", "x:²", "x:" + "9" * 5000, "x:99999", ":9092", "[]:1", "host"]
)
def test_an_invalid_address_is_a_finding(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.create_connection

    def local(target: tuple[str, int], timeout: float) -> socket.socket:
        # The name `x` must not be resolved.
        return connect(("127.0.0.1" if target[0] == "x" else target[0], target[1]), timeout)

    monkeypatch.setattr(socket, "create_connection", local)
    (finding,) = reachability.bootstrap(address)
    assert finding.state.value == "failed"


def test_an_address_of_ipv6_has_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def connect(target: tuple[str, int], timeout: float) -> nullcontext[None]:
        called.append(target)
        return nullcontext()

    monkeypatch.setattr(socket, "create_connection", connect)
    (finding,) = reachability.bootstrap("[::1]:9092")
    assert finding == ok("bootstrap server [::1]:9092 accepts connections")
    assert called == [("::1", 9092)]
